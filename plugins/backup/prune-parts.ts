import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../../core/errors.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { dropParts, partsFolder } from './archive/archive-parts.ts'
import { readArchive } from './archive/read-archive.ts'

/** Longer than any backup takes. A backup uses parts before its archive has its final name. */
const IN_USE_MS = 48 * 60 * 60 * 1_000

/** What the archives of a folder need. An unreadable one needs parts that nobody knows. */
interface Needed { parts: Set<string>, unreadable: string | null }

async function listNeeded (folder: string): Promise<Needed> {
  const parts = new Set<string>()
  for (const name of (await readdir(folder)).filter((one) => one.endsWith('.tar.gz'))) {
    try {
      await readArchive(join(folder, name), { part: ({ sha256 }) => { parts.add(sha256) } })
    } catch (err) {
      // It is no complete backup, and may still be copied into the folder by somebody.
      if (err instanceof StartError) return { parts, unreadable: name }
      throw err
    }
  }
  return { parts, unreadable: null }
}

/**
 * Deletes the parts of deleted archives. Deletes nothing as long as one of the other archives cannot be read.
 *
 * @returns the name of that archive; null if there is none
 */
export async function dropUnusedParts (folder: string): Promise<string | null> {
  const parts = partsFolder(join(folder, 'any'))
  if (!await isPresent(parts)) return null
  const needed = await listNeeded(folder)
  if (needed.unreadable === null) await dropParts(parts, needed.parts, new Date(Date.now() - IN_USE_MS))
  return needed.unreadable
}
