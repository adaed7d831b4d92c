import type { FastifyInstance } from 'fastify'
import { badRequest } from '../../core/errors.ts'
import { safeName } from '../../core/files/safe-path.ts'
import { findLayout, listAllFolders } from '../library/locate-folder.ts'
import { romsPath } from '../library/structure.ts'
import { explainLibraryError, openFolder } from '../library/write-checks.ts'

type Library = FastifyInstance['library']

async function withLibraryErrors<T> (work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (err) {
    throw explainLibraryError(err) ?? err
  }
}

/** Lists the names of all platform folders. @throws ApiError UNAVAILABLE if none of the libraries can be read */
export const listFolderNames = (library: Library): Promise<string[]> => withLibraryErrors(() => listAllFolders(library))

/**
 * Creates a platform's ROM folder unless it exists.
 *
 * @throws ApiError BAD_REQUEST for a name that cannot be a platform's folder, CONFLICT, NO_FREE_SPACE, UNAVAILABLE
 */
export async function createPlatformFolder (library: Library, fsSlug: string): Promise<void> {
  await withLibraryErrors(async () => {
    safeName(fsSlug)
    if (library.rules.isExcludedPlatform(fsSlug)) {
      throw badRequest(`Folder '${fsSlug}' is excluded; remove it from exclude.platforms or choose another name`)
    }
    const { root: { dir }, structure } = await findLayout(library, fsSlug)
    await openFolder(dir, romsPath(structure, fsSlug))
  })
}
