import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { LibraryUnreadableError, isFolder } from '../library/directory.ts'
import { libraryEmpty } from '../library/errors.ts'
import { romsPath } from '../library/structure.ts'
import type { PlatformExport, PlatformRow } from './platform/platform-export.ts'

/** A library and the layout of its platform folders. */
export type ReadableLibrary = Pick<PlatformExport, 'root' | 'structure'>

/**
 * Returns the libraries that can be read.
 *
 * @throws LibraryUnreadableError, or ApiError LIBRARY_EMPTY, if there is none
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
  throw problem ?? libraryEmpty(`The library ${JSON.stringify(roots[0]?.dir)} has no folder of ROMs; ` +
    'mount its disk or correct SVC_LIBRARY_DIR (library_dir in config.yml)')
}

/** Returns the libraries with a folder of the platform. Skips read-only libraries, unless only they have one. */
export async function findLibrariesWithPlatform (
  libraries: readonly ReadableLibrary[], { fs_slug: fsSlug }: PlatformRow
): Promise<ReadableLibrary[]> {
  const haveFolder = await Promise.all(libraries.map(({ root, structure }) =>
    isFolder(join(root.dir, romsPath(structure, fsSlug))).catch(() => true)))
  const librariesWithFolder = libraries.filter((_library, index) => haveFolder[index])
  const writable = librariesWithFolder.filter(({ root }) => root.is_writable)
  const chosen = writable.length > 0 ? writable : librariesWithFolder
  // If no library has such a folder, the export of the first library reports the error.
  return chosen.length > 0 ? chosen : libraries.slice(0, 1)
}
