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

/** Whether a line's list of names is about a host. */
function isNamed (names: string, name: string): boolean {
  const patterns = names.split(',')
  if (patterns.some((one) => one.startsWith('!') && isPattern(one.slice(1), name))) return false
  return patterns.some((one) => !one.startsWith('!') && isPattern(one, name))
}

/**
 * The keys of a host in a file of the format `sshd(8)` describes, in base64; none when the file does not name it. Lines
 * with a marker are left out: certificates are not checked.
 */
export function findKnownKeys (text: string, host: string, port: number): string[] {
  const name = port === DEFAULT_PORT ? host : `[${host}]:${port}`
  return text.split('\n').flatMap((line) => {
    const [names = '', , key] = line.trim().split(/\s+/)
    return key !== undefined && !/^[#@]/.test(names) && isNamed(names, name) ? [key] : []
  })
}

/** The same of a file that need not be there. */
export async function readKnownKeys (path: string, host: string, port: number): Promise<string[]> {
  try {
    return findKnownKeys(await readFile(path, 'utf8'), host, port)
  } catch (err) {
    if (isNothingThere(err)) return []
    throw err
  }
}
