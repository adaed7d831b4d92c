import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../core/errors.ts'
import { nameTaken } from '../../core/files/publish-file.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { findLayout, getLayout } from '../library/locate-folder.ts'
import { romsPath } from '../library/structure.ts'
import { openFolder, withRefusals } from '../library/write-checks.ts'
import type { Upload, UploadPlatform } from './rows.ts'

/** The folder of a platform's ROMs in one library. */
export interface UploadFolder {
  platform_id: number
  library_id: number
  /** The path relative to the library. */
  fs_path: string
  /** The absolute path. */
  folder: string
}

/** Creates access to the folders of uploads in the libraries. */
export function createUploadFolders ({ library }: FastifyInstance) {
  return {
    /**
     * Finds the folder of a platform's ROMs in a library; without a library id, in the first that has the platform,
     * else in the first one.
     *
     * @throws ApiError BAD_REQUEST for an unknown library · UNAVAILABLE while it is not mounted · CONFLICT if the
     * folder is not the one that holds the platform's ROMs, or is not writable
     */
    async find ({ id, fs_slug: fsSlug }: UploadPlatform, libraryId: number | null): Promise<UploadFolder> {
      return await withRefusals(fsSlug, async () => {
        const finding = libraryId === null ? findLayout(library, fsSlug) : getLayout(library, libraryId)
        const { root, structure } = await finding
        const path = romsPath(structure, fsSlug)
        await library.requireFolder(root, id, path)
        return { platform_id: id, library_id: root.id, fs_path: path, folder: join(root.dir, path) }
      })
    },

    /**
     * Returns the folder's path on disk; creates the folder if needed.
     *
     * @throws ApiError CONFLICT if it is read-only, or not the one that holds the platform's ROMs · UNAVAILABLE
     * while its library is not mounted
     */
    async open (
      { library_id: id, platform_id: platform, fs_path: path }: Pick<Upload, 'library_id' | 'platform_id' | 'fs_path'>
    ): Promise<string> {
      const root = await library.getWritable(id)
      await library.requireFolder(root, platform, path)
      return await openFolder(root.dir, path)
    },

    /** Checks a name. @throws ApiError BAD_REQUEST if it is taken */
    async checkFree ({ folder, fs_path: path }: UploadFolder, name: string): Promise<void> {
      if (await withRefusals(`${path}/${name}`, () => isPresent(join(folder, name)))) throw new ApiError('BAD_REQUEST', nameTaken(name).message)
    }
  }
}
export type UploadFolders = ReturnType<typeof createUploadFolders>
