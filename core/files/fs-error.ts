import { lstat } from 'node:fs/promises'

/** Returns the code of an error, such as `ENOENT` or a SQLSTATE; `''` if it has none. */
export function errorCode (err: unknown): string {
  return err instanceof Error && 'code' in err && typeof err.code === 'string' ? err.code : ''
}

/** True for the error of a path that nothing has. */
export const isNotFoundError = (err: unknown) => ['ENOENT', 'ENOTDIR'].includes(errorCode(err))

/** True if nothing has this path. Something that cannot be examined may exist. */
export async function isAbsent (path: string): Promise<boolean> {
  try {
    await lstat(path)
    return false
  } catch (err) {
    return isNotFoundError(err)
  }
}
