import { join } from 'node:path'
import { readdir } from 'node:fs/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import { ApiError, conflict } from '../../core/errors.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { folderInode, isFolder } from '../library/directory.ts'
import { findPlace } from '../library/find-place.ts'
import { romsPath } from '../library/structure.ts'
import { openFolder, refusing } from '../library/writing.ts'
import { type KnownFolder, type Upload, type UploadPlatform, selectKnownFolder } from './rows.ts'
import { nameTaken } from './settle.ts'

/** The folder of a platform's ROMs in one library. */
export interface UploadPlace {
  library_id: number
  /** Relative to the library. */
  fs_path: string
  /** Absolute. */
  folder: string
}

/** The names and folders that uploads get in the libraries. */
export function createPlaces ({ library }: FastifyInstance) {
  /** A disk that is not mounted leaves an empty folder behind, or none. */
  async function isAway (folder: string, { fs_inode: inode, has_roms: hasRoms }: KnownFolder): Promise<boolean> {
    if (!hasRoms) return false
    if (!await isFolder(folder)) return true
    return inode !== null && await folderInode(folder) !== inode && (await readdir(folder)).length === 0
  }

  return {
    /**
     * The folder of a platform's ROMs: where one is, else in the first library that may be written into.
     *
     * @throws ApiError CONFLICT while it is not the one that holds its ROMs, or when all libraries are read-only
     */
    async find (em: EntityManager, { id, fs_slug: fsSlug }: UploadPlatform): Promise<UploadPlace> {
      const { root, structure } = await refusing(fsSlug, () => findPlace(library, fsSlug))
      const path = romsPath(structure, fsSlug)
      const folder = join(root.dir, path)
      const known = await selectKnownFolder(em, id, root.id)
      if (await refusing(path, () => isAway(folder, known))) {
        throw conflict(`'${path}' does not hold the ROMs that it is known for; mount its disk, or scan the platform if they were removed`)
      }
      return { library_id: root.id, fs_path: path, folder }
    },

    /** The folder's path on disk; it is made unless it is there. @throws ApiError CONFLICT where it is read-only */
    async open ({ library_id: id, fs_path: path }: Pick<Upload, 'library_id' | 'fs_path'>): Promise<string> {
      return await openFolder((await library.getWritable(id)).dir, path)
    },

    /** @throws ApiError BAD_REQUEST when something has the name already */
    async checkFree ({ folder, fs_path: path }: UploadPlace, name: string): Promise<void> {
      if (await refusing(`${path}/${name}`, () => isPresent(join(folder, name)))) throw new ApiError('BAD_REQUEST', nameTaken(name).message)
    }
  }
}
export type Places = ReturnType<typeof createPlaces>
