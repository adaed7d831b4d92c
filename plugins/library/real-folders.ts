import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isInside, safeRelativePath } from '../../core/files/safe-path.ts'
import { LibraryUnreadableError } from './directory.ts'
import type { LibraryRoot } from './roots.ts'
import type { Library } from './service.ts'
import { romsPath } from './structure.ts'

/** The path of the library, and of each platform folder, which may be a link to another disk. */
async function listPaths (library: Library, root: LibraryRoot): Promise<string[]> {
  const structure = await library.detectStructure(root)
  const { platforms } = structure === null ? { platforms: [] } : await library.listPlatformFolders(root, structure)
  const folders = structure === null ? [] : platforms.map((fsSlug) => romsPath(structure, fsSlug))
  return [root.dir, ...folders.map((folder) => join(root.dir, safeRelativePath(folder)))]
}

async function listRealPaths (library: Library, root: LibraryRoot): Promise<string[]> {
  try {
    const paths = await listPaths(library, root)
    // A link may have lost its end since its folder was listed.
    const found = await Promise.allSettled(paths.map((path) => realpath(path)))
    return found.flatMap((one) => one.status === 'fulfilled' ? [one.value] : [])
  } catch (err) {
    if (err instanceof LibraryUnreadableError) return []
    throw err
  }
}

/**
 * Every folder that files of ROMs lie in, without symbolic links and without folders inside another one: the libraries
 * that can be read, and platform folders that are links out of them. In the order of their names.
 */
export async function listRealFolders (library: Library): Promise<string[]> {
  const roots = await library.list()
  const paths = new Set((await Promise.all(roots.map((root) => listRealPaths(library, root)))).flat())
  const all = [...paths].sort()
  return all.filter((path) => !all.some((other) => other !== path && isInside(other, path)))
}
