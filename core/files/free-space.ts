import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ApiError } from '../errors.ts'
import { errorCode } from './fs-error.ts'

/** Space that always stays free on a disk for the database and the system. */
const RESERVE_BYTES = 1024 ** 3

/** Returns the free bytes on the disk of a folder, or of its nearest existing parent. */
export async function countFree (folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch (err) {
    if (errorCode(err) !== 'ENOENT' || dirname(folder) === folder) throw err
    return await countFree(dirname(folder))
  }
}

/** Returns how many bytes may still be written into a folder. */
export const countRoom = async (folder: string): Promise<number> => await countFree(folder) - RESERVE_BYTES

/**
 * Checks the free space. All code that writes files must call it: uploads, artwork, exports, plugins, and caches.
 *
 * @throws ApiError NO_FREE_SPACE unless so many bytes fit into the folder and the reserve stays free.
 */
export async function requireFreeSpace (folder: string, bytes: number): Promise<void> {
  if (await countRoom(folder) < bytes) throw new ApiError('NO_FREE_SPACE')
}
