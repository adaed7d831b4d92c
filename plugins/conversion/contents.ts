import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { DEFAULT_LIMITS } from '../../core/archives/limits.ts'
import { type Hasher, createHasher } from '../scans/hashing/hasher.ts'
import { ArchiveRefusedError } from './archive-in-thread.ts'

const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)
/** Nobody waits for it. */
const LIMITS = { ...DEFAULT_LIMITS, timeoutMs: 3_600_000 }

/** What two files have in common when they hold the same. */
export interface Content {
  name: string
  size: number
  sha1: string
}

/** Reads what files hold, to compare it. */
export interface Contents {
  /** All of an archive, whatever scans leave out of it. @throws ArchiveRefusedError when it cannot be read */
  ofArchive (path: string): Promise<Content[]>
  close (): Promise<void>
}

async function addFile (path: string, signal: AbortSignal, add: (chunk: Buffer) => void): Promise<number> {
  const handle = await open(path, FLAGS)
  let size = 0
  for await (const chunk of handle.createReadStream({ signal }) as AsyncIterable<Buffer>) {
    add(chunk)
    size += chunk.length
  }
  return size
}

/** Bytes of files one after the other. */
export async function digestFiles (paths: readonly string[], signal: AbortSignal): Promise<Omit<Content, 'name'>> {
  const hash = createHash('sha1')
  let size = 0
  for (const path of paths) size += await addFile(path, signal, (chunk) => { hash.update(chunk) })
  return { size, sha1: hash.digest('hex') }
}

export async function contentOf (path: string, name: string, signal: AbortSignal): Promise<Content> {
  return { name, ...await digestFiles([path], signal) }
}

/** Reads archives in a process of their own, which is started when it is needed. */
export function createContents (signal: AbortSignal): Contents {
  let hasher: Hasher | null = null
  return {
    async ofArchive (path) {
      hasher ??= createHasher({ threads: 1, limits: LIMITS })
      const { warning, archive_members: members } = await hasher.hashFile(path, { signal })
      if (members === null) throw new ArchiveRefusedError(warning ?? 'it is no archive')
      return members.map(({ name, size, sha1_hash: sha1 }) => ({ name, size, sha1 }))
    },
    async close () { await hasher?.close() }
  }
}

const lineOf = ({ name, size, sha1 }: Content) => `${size} ${sha1} ${name}`

/** @throws ArchiveRefusedError when they are not the same files with the same bytes */
export function requireEqual (before: readonly Content[], after: readonly Content[]): void {
  const [one, other] = [before, after].map((contents) => contents.map(lineOf).sort().join('\n'))
  if (one !== other) throw new ArchiveRefusedError('what was written does not hold what was read; nothing was replaced')
}
