import { randomUUID } from 'node:crypto'
import { type Stats, constants } from 'node:fs'
import { access, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { configNotWritable } from './errors.ts'

const OWNER_ONLY = 0o600
const WRITE_BITS = 0o222
/** Only root may change the owner, and some disks have no owners. The new text matters more. */
const NO_OWNERS = new Set(['EPERM', 'ENOTSUP', 'ENOSYS', 'EINVAL'])
/** Codes for a folder or file of another user, a read-only disk, or a file with a mount of its own. */
const NOT_WRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'EISDIR', 'ENOENT', 'ENOTDIR'])

/** Returns the result, or null if the path does not exist. */
async function orNull<T> (work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return null
    throw err
  }
}

/** Returns the file to which the path links, if the path is a link. */
const findTarget = async (path: string): Promise<string> => await orNull(realpath(path)) ?? path

export interface FileState { isPresent: boolean, isWritable: boolean }

/** Checks a file. Root may write anything, so for root a file without any write permission counts as read-only too. */
export async function checkFile (path: string): Promise<FileState> {
  let stats: Stats | null = null
  try {
    const target = await findTarget(path)
    stats = await orNull(stat(target))
    if (stats !== null) {
      if (!stats.isFile() || (stats.mode & WRITE_BITS) === 0) return { isPresent: true, isWritable: false }
      await access(target, constants.W_OK)
    }
    await access(dirname(target), constants.W_OK)
    return { isPresent: stats !== null, isWritable: true }
  } catch {
    return { isPresent: stats !== null, isWritable: false }
  }
}

/** Reads the text of a file; empty if the file does not exist. */
export const readTextOf = async (path: string): Promise<string> => await orNull(readFile(path, 'utf8')) ?? ''

async function writeNew (path: string, text: string, like: Stats | null): Promise<void> {
  const handle = await open(path, 'wx', OWNER_ONLY)
  try {
    await handle.writeFile(text)
    if (like !== null) {
      const stats = await handle.stat()
      try {
        if (stats.uid !== like.uid || stats.gid !== like.gid) await handle.chown(like.uid, like.gid)
        await handle.chmod(like.mode & 0o7777)
      } catch (err) {
        if (!NO_OWNERS.has(errorCode(err))) throw err
      }
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Replaces the file in one step, so that nobody reads half of it.
 *
 * @throws ApiError CONFIG_NOT_WRITABLE · NO_FREE_SPACE
 */
export async function replaceText (path: string, text: string): Promise<void> {
  const target = await findTarget(path)
  await requireFreeSpace(dirname(target), Buffer.byteLength(text))
  const temporary = join(dirname(target), `.${randomUUID()}.tmp`)
  try {
    await writeNew(temporary, text, await orNull(stat(target)))
    await rename(temporary, target)
  } catch (err) {
    if (NOT_WRITABLE.has(errorCode(err))) throw configNotWritable(undefined, { cause: err })
    throw err
  } finally {
    await rm(temporary, { force: true })
  }
}
