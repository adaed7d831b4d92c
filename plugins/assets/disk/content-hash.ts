import { createHash } from 'node:crypto'
import { compareNames, type Entry } from '../../../core/archives/archive.ts'
import { Budget, UNWATCHED } from '../../../core/archives/limits.ts'
import { withSource } from '../../../core/archives/source.ts'
import { openZip } from '../../../core/archives/zip.ts'

const ZIP_MARK = 'PK\x03\x04'
/** Far below the limits of a scan, because an upload waits for its hash in a process that serves other requests. */
const LIMITS = {
  entries: 10_000, totalBytes: 1024 ** 3, ratio: 1000, ratioFreeBytes: 10 * 1024 ** 2, timeoutMs: 10_000
}

async function hashEntry (entry: Entry): Promise<string> {
  const hash = createHash('md5')
  for await (const piece of entry.content()) hash.update(piece)
  return hash.digest('hex')
}

async function hashZip (path: string): Promise<string> {
  return await withSource(path, async (source) => {
    const archive = await openZip(source, new Budget(source.size, LIMITS, UNWATCHED))
    const lines: { name: string, line: string }[] = []
    for await (const entry of archive.entries()) {
      lines.push({ name: entry.name, line: `${entry.name}:${await hashEntry(entry)}` })
    }
    lines.sort((a, b) => compareNames(a.name, b.name))
    return createHash('md5').update(lines.map(({ line }) => line).join('\n')).digest('hex')
  })
}

/** True for the first bytes of a zip. */
export const isZip = (head: Buffer): boolean => head.toString('latin1', 0, ZIP_MARK.length) === ZIP_MARK

/**
 * Returns the hash by which devices compare content: the MD5 of the bytes. A zip is hashed by its entries, because two
 * zips of the same files differ in bytes. Returns null for a zip that cannot be read within its limits.
 */
export async function hashContent (path: string, head: Buffer, md5: string): Promise<string | null> {
  if (!isZip(head)) return md5
  return await hashZip(path).catch(() => null)
}
