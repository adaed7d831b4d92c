import { access, constants, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isNotFoundError } from './fs-error.ts'

/** @throws EROFS or EACCES if the nearest existing folder cannot be written to */
async function requireWritableParent (path: string): Promise<void> {
  const parent = dirname(path)
  try {
    await access(parent, constants.W_OK)
  } catch (err) {
    if (!isNotFoundError(err) || parent === path) throw err
    await requireWritableParent(parent)
  }
}

/**
 * Creates a folder and its parents unless they exist.
 *
 * @param mode the file mode of new folders, before the umask
 * @returns the first folder that was created, if any
 * @throws the error of the file system: EROFS on a read-only one, for which Node reports ENOENT
 */
export async function createFolder (path: string, mode?: number): Promise<string | undefined> {
  try {
    return await mkdir(path, { recursive: true, mode })
  } catch (err) {
    if (isNotFoundError(err)) await requireWritableParent(path)
    throw err
  }
}
