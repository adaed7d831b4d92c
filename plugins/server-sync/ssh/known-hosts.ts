import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isNothingThere } from '../../../core/files/safe-path.ts'

const DEFAULT_PORT = 22

const escape = (text: string) => text.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')

function isPattern (pattern: string, name: string): boolean {
  const [, salt, digest] = /^\|1\|([^|]+)\|([^|]+)$/.exec(pattern) ?? []
  if (salt !== undefined && digest !== undefined) {
    return createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest('base64') === digest
  }
  return new RegExp(`^${escape(pattern).replaceAll('*', '.*').replaceAll('?', '.')}$`, 'i').test(name)
}

/** True if the names of a line include a host. */
function isNamed (names: string, name: string): boolean {
  const patterns = names.split(',')
  if (patterns.some((one) => one.startsWith('!') && isPattern(one.slice(1), name))) return false
  return patterns.some((one) => !one.startsWith('!') && isPattern(one, name))
}

/**
 * Returns the keys of a host in the file format of `sshd(8)`, in base64; none if the file does not name the host. Lines
 * with a marker are skipped, because certificates are not checked.
 */
export function findKnownKeys (text: string, host: string, port: number): string[] {
  const name = port === DEFAULT_PORT ? host : `[${host}]:${port}`
  return text.split('\n').flatMap((line) => {
    const [names = '', , key] = line.trim().split(/\s+/)
    return key !== undefined && !/^[#@]/.test(names) && isNamed(names, name) ? [key] : []
  })
}

/** Reads the keys of a host from a file that may not exist. */
export async function readKnownKeys (path: string, host: string, port: number): Promise<string[]> {
  try {
    return findKnownKeys(await readFile(path, 'utf8'), host, port)
  } catch (err) {
    if (isNothingThere(err)) return []
    throw err
  }
}
