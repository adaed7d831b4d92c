/** The code of an error of the file system, such as `ENOENT`; `''` for anything else. */
export function errorCode (err: unknown): string {
  return err instanceof Error && 'code' in err && typeof err.code === 'string' ? err.code : ''
}
