import { lstat } from 'node:fs/promises'

/** Returns the code of an error, such as `ENOENT` or a SQLSTATE; `''` if it has none. */
export function errorCode (err: unknown): string {
  return err instanceof Error && 'code' in err && typeof err.code === 'string' ? err.code : ''
}

/** True for the error of a path that nothing has. */
export const isNotFoundError = (err: unknown) => ['ENOENT', 'ENOTDIR'].includes(errorCode(err))

/** Returns the result of work on a file or folder; null if its path does not exist. */
export async function ifPresent<T> (work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return null
    throw err
  }
}

/** True if nothing has this path. Something that cannot be examined may exist. */
export async function isAbsent (path: string): Promise<boolean> {
  try {
    await lstat(path)
    return false
  } catch (err) {
    return isNotFoundError(err)
  }
}
