import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ApiError } from '../errors.ts'
import { errorCode } from './fs-error.ts'

/** What stays free on a disk for the database and the system, whatever is to be written. */
const RESERVE_BYTES = 1024 ** 3

/** What is free on the disk of a folder, or of the one that it would be made in. */
export async function countFree (folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch (err) {
    if (errorCode(err) !== 'ENOENT' || dirname(folder) === folder) throw err
    return await countFree(dirname(folder))
  }
}

/** How many bytes may still be written into a folder. */
export const countRoom = async (folder: string): Promise<number> => await countFree(folder) - RESERVE_BYTES

/**
 * To be asked by everything that writes files: uploads, artwork, exports, plugins, and what is kept to be faster.
 *
 * @throws ApiError NO_FREE_SPACE unless so many bytes fit into the folder and the reserve stays free.
 */
export async function requireFreeSpace (folder: string, bytes: number): Promise<void> {
  if (await countRoom(folder) < bytes) throw new ApiError('NO_FREE_SPACE')
}
