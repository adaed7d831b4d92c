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
 * Creates access to the files of a library. Links on a path must stay in the library, or in the platform folder, which
 * may itself be a link to another disk, as in `ln -s ~/ROMs library/roms`.
 */
export function createWithinLibrary (library: LinkableLibrary): WithinFolder {
  return async function withinLibrary (path, work) {
    try {
      return await work(library.dir, path)
    } catch (err) {
      if (!(err instanceof PathRefusedError)) throw err
      const inside = safeRelativePath(path)
      const folder = findPlatformFolder(library, inside)
      if (folder === null) throw err
      return await work(`${library.dir}/${folder}`, inside.slice(folder.length + 1))
    }
  }
}
