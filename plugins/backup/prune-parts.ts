import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../../core/errors.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { dropParts, partsFolder } from './archive/parts.ts'
import { readArchive } from './archive/read-archive.ts'

/** Longer than a backup may take, which has used its parts before it has its name. */
const IN_USE_MS = 48 * 60 * 60 * 1_000

/** The parts that the archives of a folder need; null when one of them cannot be asked. */
async function listNeeded (folder: string): Promise<Set<string> | null> {
  const needed = new Set<string>()
  try {
    for (const name of (await readdir(folder)).filter((one) => one.endsWith('.tar.gz'))) {
      await readArchive(join(folder, name), { part: ({ sha256 }) => { needed.add(sha256) } })
    }
  } catch (err) {
    // No whole backup, whoever put it there: it may be one that is still being copied.
    if (err instanceof StartError) return null
    throw err
  }
  return needed
}

/** Deletes what archives that are gone had beside them. As long as one of the others cannot be read, nothing is. */
export async function dropUnusedParts (folder: string): Promise<number> {
  const parts = partsFolder(join(folder, 'any'))
  if (!await isPresent(parts)) return 0
  const needed = await listNeeded(folder)
  return needed === null ? 0 : await dropParts(parts, needed, new Date(Date.now() - IN_USE_MS))
}
