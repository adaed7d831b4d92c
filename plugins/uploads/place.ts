import { join } from 'node:path'
import { readdir } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { ApiError, badRequest, conflict } from '../../core/errors.ts'
import { PathRefusedError, isPresent, safeName } from '../../core/files/safe-path.ts'
import { folderInode, isFolder } from '../library/directory.ts'
import { romsPath } from '../library/structure.ts'
import { openFolder, refusing } from '../library/writing.ts'
import type { UploadPlatform } from './rows.ts'
import { nameTaken } from './settle.ts'

/** The names and folders that uploads get in the library. */
export function createPlaces ({ library }: FastifyInstance, libraryDir: string) {
  /** A disk that is not mounted leaves an empty folder behind, or none. */
  async function isAway (path: string, { fs_inode: inode, has_roms: hasRoms }: UploadPlatform): Promise<boolean> {
    if (!hasRoms) return false
    const folder = join(libraryDir, path)
    if (!await isFolder(folder)) return true
    return inode !== null && await folderInode(folder) !== inode && (await readdir(folder)).length === 0
  }

  return {
    /** @throws ApiError BAD_REQUEST for a name that no ROM can have, or that scans leave out */
    checkName (name: string): void {
      try {
        safeName(name)
      } catch (err) {
        if (!(err instanceof PathRefusedError)) throw err
        throw badRequest(`${err.message}; send a plain file name`)
      }
      if (library.rules.isExcludedSingle(name)) {
        throw badRequest(`Scans leave out '${name}'; send another name, or change 'exclude' in config.yml`)
      }
    },

    /**
     * The folder of a platform's ROMs, relative to the library.
     *
     * @throws ApiError CONFLICT while it is not the one that holds its ROMs
     */
    async find (platform: UploadPlatform): Promise<string> {
      const structure = await refusing(libraryDir, () => library.detectStructure()) ?? library.emptyStructure
      const path = romsPath(structure, platform.fs_slug)
      if (await refusing(path, () => isAway(path, platform))) {
        throw conflict(`'${path}' does not hold the ROMs that it is known for; mount its disk, or scan the platform if they were removed`)
      }
      return path
    },

    /** The folder's path on disk; it is made unless it is there. */
    open: (path: string): Promise<string> => openFolder(libraryDir, path),

    /** @throws ApiError BAD_REQUEST when something has the name already */
    async checkFree (path: string, name: string): Promise<void> {
      const target = join(libraryDir, path, name)
      if (await refusing(`${path}/${name}`, () => isPresent(target))) throw new ApiError('BAD_REQUEST', nameTaken(name).message)
    }
  }
}
export type Places = ReturnType<typeof createPlaces>
