import type { Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { errorCode } from './fs-error.ts'

/** Only root may change the owner, and some disks have no owners. The new text matters more. */
const NO_OWNERS = new Set(['EPERM', 'ENOTSUP', 'ENOSYS', 'EINVAL'])

async function copyOwnership (handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const own = await handle.stat()
  try {
    if (own.uid !== uid || own.gid !== gid) await handle.chown(uid, gid)
    await handle.chmod(mode & 0o7777)
  } catch (err) {
    if (!NO_OWNERS.has(errorCode(err))) throw err
  }
}

/**
 * Writes a new file to the disk, with the owner and the mode of the file that it will replace.
 *
 * @param like the replaced file; null if there is none
 * @param mode the mode of a file that replaces none
 */
export async function writeLike (path: string, text: string, like: Stats | null, mode?: number): Promise<void> {
  const handle = await open(path, 'wx', mode)
  try {
    await handle.writeFile(text)
    if (like !== null) await copyOwnership(handle, like)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Writes a new file to the disk that only its owner may read. */
export const writePrivate = (path: string, text: string): Promise<void> => writeLike(path, text, null, 0o600)
