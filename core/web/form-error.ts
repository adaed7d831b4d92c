import { ApiError, badRequest } from '../errors.ts'

/** Names of what a form has too many of, by the codes of `@fastify/multipart`. */
const TOO_MANY = new Map<unknown, string>([['FST_FILES_LIMIT', 'files'], ['FST_FIELDS_LIMIT', 'fields'], ['FST_PARTS_LIMIT', 'parts']])

/** Keeps errors with a status, such as limits of the parser, and errors of the disk; makes the rest bad requests. */
export function toFormError (err: unknown): unknown {
  const tooMany = err instanceof Error && 'code' in err ? TOO_MANY.get(err.code) : undefined
  if (tooMany !== undefined) return new ApiError('TOO_LARGE', `The form has too many ${tooMany}; send fewer at once`)
  if (err instanceof Error && ('statusCode' in err || 'syscall' in err)) return err
  return badRequest(`The form cannot be read: ${err instanceof Error ? err.message : String(err)}`)
}
