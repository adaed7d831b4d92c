import type { FastifyInstance } from 'fastify'
import { ApiError, badRequest } from '../../core/errors.ts'
import { LibraryUnreadableError, reasonOf } from '../library/directory.ts'
import { PathRefusedError, safeName } from '../../core/files/safe-path.ts'
import { findLayout, listAllFolders } from '../library/locate-folder.ts'
import { romsPath } from '../library/structure.ts'
import { openFolder } from '../library/write-checks.ts'

/** Converts library errors to responses with the reason. The path of the library is only logged. */
async function withLibraryErrors<T> (work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (err) {
    if (err instanceof PathRefusedError) throw badRequest(err.message)
    if (!(err instanceof LibraryUnreadableError)) throw err
    throw new ApiError('UNAVAILABLE', `The library cannot be read: ${reasonOf(err.cause)}. Check SVC_LIBRARY_DIR and its ` +
      'permissions', { cause: err })
  }
}

/** Creates the access to the platform folders of the libraries. */
export function createPlatformFolders ({ library }: FastifyInstance) {
  return {
    /** @throws ApiError UNAVAILABLE if none of the libraries can be read. */
    list: () => withLibraryErrors(() => listAllFolders(library)),

    /**
     * Creates a platform's ROM folder unless it exists.
     *
     * @throws ApiError BAD_REQUEST for a name that cannot be a platform's folder, CONFLICT, NO_FREE_SPACE, UNAVAILABLE.
     */
    create: (fsSlug: string) => withLibraryErrors(async () => {
      safeName(fsSlug)
      if (library.rules.isExcludedPlatform(fsSlug)) {
        throw badRequest(`Folder '${fsSlug}' is excluded; remove it from exclude.platforms or choose another name`)
      }
      const { root: { dir }, structure } = await findLayout(library, fsSlug)
      await openFolder(dir, romsPath(structure, fsSlug))
    })
  }
}
