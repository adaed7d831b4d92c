import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../../core/errors.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { dropParts, partsFolder } from './archive/archive-parts.ts'
import { readArchive } from './archive/read-archive.ts'

/** Longer than any backup takes. A backup uses parts before its archive has its final name. */
const IN_USE_MS = 48 * 60 * 60 * 1_000

/** Lists the parts that the archives of a folder need; null if one archive cannot be read. */
async function listNeeded (folder: string): Promise<Set<string> | null> {
  const needed = new Set<string>()
  try {
    for (const name of (await readdir(folder)).filter((one) => one.endsWith('.tar.gz'))) {
      await readArchive(join(folder, name), { part: ({ sha256 }) => { needed.add(sha256) } })
    }
  } catch (err) {
    // It is no complete backup, and may still be copied into the folder by somebody.
    if (err instanceof StartError) return null
    throw err
  }
  return needed
}

/** Deletes the parts of deleted archives. Deletes nothing as long as one of the other archives cannot be read. */
export async function dropUnusedParts (folder: string): Promise<number> {
  const parts = partsFolder(join(folder, 'any'))
  if (!await isPresent(parts)) return 0
  const needed = await listNeeded(folder)
  return needed === null ? 0 : await dropParts(parts, needed, new Date(Date.now() - IN_USE_MS))
}
