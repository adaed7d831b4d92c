/** Returns the code of a file system error, such as `ENOENT`; `''` for any other value. */
export function errorCode (err: unknown): string {
  return err instanceof Error && 'code' in err && typeof err.code === 'string' ? err.code : ''
}
