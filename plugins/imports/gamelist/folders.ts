import { opendir } from 'node:fs/promises'
import { isNothingThere, resolveInside } from '../../../core/files/safe-path.ts'

/** The folders of one frontend; null for one that was not named. */
export interface Folders {
  /** The folder with a folder of ROMs for each system. */
  readonly folder: string
  readonly gamelists: string | null
  readonly media: string | null
}

/** More files are no folder of media of one system. */
const MAX_NAMES = 200_000

/** Lists the names of the folders or files in a folder below `base`; none if it is absent or leads out of `base`. */
export async function listNames (base: string | null, path: string, kind: 'folder' | 'file'): Promise<string[]> {
  if (base === null) return []
  const names: string[] = []
  try {
    for await (const entry of await opendir(path === '' ? base : await resolveInside(base, path))) {
      if (kind === 'folder' ? entry.isDirectory() || entry.isSymbolicLink() : entry.isFile()) names.push(entry.name)
      if (names.length >= MAX_NAMES) return names
    }
  } catch (err) {
    if (!isNothingThere(err)) throw err
  }
  return names
}
