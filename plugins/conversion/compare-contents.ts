import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { type Archives, ArchiveRefusedError } from './archive-in-thread.ts'

const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)

/** The facts that are equal for two files of the same content. */
export interface FileDigest {
  name: string
  size: number
  sha1: string
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

/** Hashes the bytes of consecutive files. */
export async function digestFiles (paths: readonly string[], signal: AbortSignal): Promise<Omit<FileDigest, 'name'>> {
  const hash = createHash('sha1')
  let size = 0
  for (const path of paths) size += await addFile(path, signal, (chunk) => { hash.update(chunk) })
  return { size, sha1: hash.digest('hex') }
}

export async function contentOf (path: string, name: string, signal: AbortSignal): Promise<FileDigest> {
  return { name, ...await digestFiles([path], signal) }
}

/**
 * Returns the contents of an archive, also files that scans skip. @throws ArchiveRefusedError when it cannot be read
 */
export async function contentsOf (archive: string, archives: Archives): Promise<FileDigest[]> {
  const members = await archives.run({ kind: 'digest', archive })
  return members.map(({ name, size, sha1 = '' }) => ({ name, size, sha1 }))
}

const lineOf = ({ name, size, sha1 }: FileDigest) => `${size} ${sha1} ${name}`

/** Compares contents. @throws ArchiveRefusedError if they are not the same files with the same bytes */
export function requireEqual (before: readonly FileDigest[], after: readonly FileDigest[]): void {
  const [one, other] = [before, after].map((contents) => contents.map(lineOf).sort().join('\n'))
  if (one !== other) throw new ArchiveRefusedError('the written files differ from the original files; nothing was replaced')
}
