import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../core/errors.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { findLayout, getLayout } from '../library/locate-folder.ts'
import { romsPath } from '../library/structure.ts'
import { openFolder, refusing } from '../library/write-checks.ts'
import type { Upload, UploadPlatform } from './rows.ts'
import { nameTaken } from './publish-file.ts'

/** The folder of a platform's ROMs in one library. */
export interface UploadFolder {
  platform_id: number
  library_id: number
  /** Relative to the library. */
  fs_path: string
  /** Absolute. */
  folder: string
}

/** The names and folders that uploads get in the libraries. */
export function createUploadFolders ({ library }: FastifyInstance) {
  return {
    /**
     * The folder of a platform's ROMs in a library; without its id, in the one that has the platform, else the first.
     *
     * @throws ApiError BAD_REQUEST for a library that is not there · UNAVAILABLE while it is not mounted · CONFLICT
     * while the folder is not the one that holds the platform's ROMs, or when nothing may be written there
     */
    async find ({ id, fs_slug: fsSlug }: UploadPlatform, libraryId: number | null): Promise<UploadFolder> {
      return await refusing(fsSlug, async () => {
        const finding = libraryId === null ? findLayout(library, fsSlug) : getLayout(library, libraryId)
        const { root, structure } = await finding
        const path = romsPath(structure, fsSlug)
        await library.requireFolder(root, id, path)
        return { platform_id: id, library_id: root.id, fs_path: path, folder: join(root.dir, path) }
      })
    },

    /**
     * The folder's path on disk; it is made unless it is there.
     *
     * @throws ApiError CONFLICT where it is read-only, or not the one that holds the platform's ROMs · UNAVAILABLE
     * while its library is not mounted
     */
    async open (
      { library_id: id, platform_id: platform, fs_path: path }: Pick<Upload, 'library_id' | 'platform_id' | 'fs_path'>
    ): Promise<string> {
      const root = await library.getWritable(id)
      await library.requireFolder(root, platform, path)
      return await openFolder(root.dir, path)
    },

    /** @throws ApiError BAD_REQUEST when something has the name already */
    async checkFree ({ folder, fs_path: path }: UploadFolder, name: string): Promise<void> {
      if (await refusing(`${path}/${name}`, () => isPresent(join(folder, name)))) throw new ApiError('BAD_REQUEST', nameTaken(name).message)
    }
  }
}
export type UploadFolders = ReturnType<typeof createUploadFolders>
