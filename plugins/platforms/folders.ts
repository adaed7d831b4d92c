import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { ApiError, badRequest } from '../../core/errors.ts'
import { LibraryUnreadableError, isFolder, reasonOf } from '../library/directory.ts'
import { PathRefusedError, resolveInside, safeName } from '../../core/files/safe-path.ts'
import { findLayout, listAllFolders } from '../library/locate-folder.ts'
import { romsPath } from '../library/structure.ts'

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
     * @throws ApiError BAD_REQUEST for a name that cannot be a platform's folder, UNAVAILABLE.
     */
    create: (fsSlug: string) => withLibraryErrors(async () => {
      safeName(fsSlug)
      if (library.rules.isExcludedPlatform(fsSlug)) {
        throw badRequest(`Folder '${fsSlug}' is excluded; remove it from exclude.platforms or choose another name`)
      }
      const { root: { dir }, structure } = await findLayout(library, fsSlug)
      const path = romsPath(structure, fsSlug)
      if (await isFolder(join(dir, path))) return
      await mkdir(await resolveInside(dir, path), { recursive: true })
    })
  }
}
