import { randomUUID } from 'node:crypto'
import { type Stats, constants } from 'node:fs'
import { access, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { errorCode, ifPresent } from '../../core/files/fs-error.ts'
import { writeLike } from '../../core/files/write-like.ts'
import { configNotWritable } from './errors.ts'

const OWNER_ONLY = 0o600
const WRITE_BITS = 0o222
/** Codes for a folder or file of another user, a read-only disk, or a file with a mount of its own. */
const NOT_WRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'EISDIR', 'ENOENT', 'ENOTDIR'])

/** Returns the file to which the path links, if the path is a link. */
const findTarget = async (path: string): Promise<string> => await ifPresent(realpath(path)) ?? path

export interface FileState { isPresent: boolean, isWritable: boolean }

/** Checks a file. Root may write anything, so for root a file without any write permission counts as read-only too. */
export async function checkFile (path: string): Promise<FileState> {
  let stats: Stats | null = null
  try {
    const target = await findTarget(path)
    stats = await ifPresent(stat(target))
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
export const readTextOf = async (path: string): Promise<string> => await ifPresent(readFile(path, 'utf8')) ?? ''

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
    await writeLike(temporary, text, await ifPresent(stat(target)), OWNER_ONLY)
    await rename(temporary, target)
  } catch (err) {
    if (NOT_WRITABLE.has(errorCode(err))) throw configNotWritable(undefined, { cause: err })
    throw err
  } finally {
    await rm(temporary, { force: true })
  }
}
