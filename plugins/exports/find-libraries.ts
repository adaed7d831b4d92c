import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { LibraryUnreadableError, isFolder } from '../library/directory.ts'
import { libraryEmpty } from '../library/errors.ts'
import type { LibraryRoot } from '../library/roots.ts'
import { romsPath } from '../library/structure.ts'
import type { PlatformExport, PlatformRow } from './platform/platform-export.ts'

/** A library and the layout of its platform folders. */
export type ReadableLibrary = Pick<PlatformExport, 'root' | 'structure'>

/**
 * Returns the libraries that can be read.
 *
 * @throws ApiError UNAVAILABLE, CONFLICT or LIBRARY_EMPTY, or LibraryUnreadableError, if there is none
 */
export async function findReadableLibraries (
  library: FastifyInstance['library'], log: FastifyBaseLogger
): Promise<ReadableLibrary[]> {
  const libraries: ReadableLibrary[] = []
  const roots = await library.list()
  let problem: LibraryUnreadableError | null = null
  for (const root of roots) {
    try {
      const structure = await library.detectStructure(root)
      if (structure !== null) libraries.push({ root, structure })
    } catch (err) {
      if (!(err instanceof LibraryUnreadableError)) throw err
      log.warn({ err, library: root.name }, 'a library cannot be read; the export skips it')
      problem ??= err
    }
  }
  if (libraries.length > 0) return libraries
  for (const root of roots) await library.requireMounted(root)
  throw problem ?? libraryEmpty(`The library ${JSON.stringify(roots[0]?.dir)} has no folder of ROMs; ` +
    'mount its disk or correct SVC_LIBRARY_DIR (library_dir in config.yml)')
}

/** A library that contained a platform and cannot be read now. */
interface UnmountedHome { root: LibraryRoot, err: unknown }

/**
 * Returns the library that contained a platform at its last scan, if it cannot be read now and no other library has a
 * folder of the platform; otherwise null.
 */
export async function findUnmountedHome (
  { library, log }: Pick<FastifyInstance, 'library' | 'log'>, libraries: readonly ReadableLibrary[], platform: PlatformRow
): Promise<UnmountedHome | null> {
  if ((await findFolders(libraries, platform)).length > 0) return null
  const homes = await library.listHomes(platform.fs_slug)
  for (const root of await library.list()) {
    if (!homes.has(root.id)) continue
    try {
      await library.requireMounted(root)
    } catch (err) {
      log.warn({ err, platform: platform.slug }, 'a library cannot be read; the export skips the platform')
      return { root, err }
    }
  }
  return null
}

/** Returns the libraries with a folder of the platform. */
async function findFolders (
  libraries: readonly ReadableLibrary[], { fs_slug: fsSlug }: PlatformRow
): Promise<ReadableLibrary[]> {
  const haveFolder = await Promise.all(libraries.map(({ root, structure }) =>
    isFolder(join(root.dir, romsPath(structure, fsSlug))).catch(() => true)))
  return libraries.filter((_library, index) => haveFolder[index])
}

/** Returns the libraries with a folder of the platform. Skips read-only libraries, unless only they have one. */
export async function findLibrariesWithPlatform (
  libraries: readonly ReadableLibrary[], platform: PlatformRow
): Promise<ReadableLibrary[]> {
  const librariesWithFolder = await findFolders(libraries, platform)
  const writable = librariesWithFolder.filter(({ root }) => root.is_writable)
  const chosen = writable.length > 0 ? writable : librariesWithFolder
  // If no library has such a folder, the export of the first library reports the error.
  return chosen.length > 0 ? chosen : libraries.slice(0, 1)
}
