import { join } from 'node:path'
import { type WithinFolder, PathRefusedError, safeRelativePath } from '../../core/files/safe-path.ts'
import type { LibraryRoot } from './roots.ts'

/** The parts of a library that tell which of its folders are platform folders. */
export type LinkableLibrary = Pick<LibraryRoot, 'dir' | 'filesystem'>

/** Returns the platform folder that a path equals or lies in, such as `roms/snes` or `snes/roms`; null for none. */
function findPlatformFolder ({ filesystem }: LinkableLibrary, path: string): string | null {
  const { roms_folder: name, structure: { default: configured } } = filesystem
  const romsFolder = configured === undefined ? name : 'roms'
  const parts = path.split('/').slice(0, 2)
  return parts.length === 2 && parts.includes(romsFolder) ? parts.join('/') : null
}

/**
 * Runs work on a path in a library. Links on the path must stay in the library, or in the platform folder, which may
 * itself be a link to another disk, as in `ln -s ~/ROMs library/roms`.
 *
 * @param findFolder returns the platform folder that a path equals or lies in; null for none
 * @param work called a second time, with the platform folder, if the path leads out of the library
 */
export async function withinLibrary<T> (
  dir: string, path: string, findFolder: (path: string) => string | null,
  work: (base: string, path: string) => Promise<T>
): Promise<T> {
  try {
    return await work(dir, path)
  } catch (err) {
    if (!(err instanceof PathRefusedError)) throw err
    const inside = safeRelativePath(path)
    const folder = findFolder(inside)
    if (folder === null) throw err
    return await work(join(dir, folder), inside.slice(folder.length + 1))
  }
}

/** Creates access to the files of a library, whose platform folders its layout tells. */
export const createWithinLibrary = (library: LinkableLibrary): WithinFolder => (path, work) =>
  withinLibrary(library.dir, path, (inside) => findPlatformFolder(library, inside), work)
