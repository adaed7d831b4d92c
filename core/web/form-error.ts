import { badRequest } from '../errors.ts'

/** Keeps errors with a status, such as limits of the parser, and errors of the disk; makes the rest bad requests. */
export function toFormError (err: unknown): unknown {
  if (err instanceof Error && ('statusCode' in err || 'syscall' in err)) return err
  return badRequest(`The form cannot be read: ${err instanceof Error ? err.message : String(err)}`)
}
