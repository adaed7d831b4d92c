import type { FastifyRequest } from 'fastify'
import { ApiError, badRequest } from '../../../core/errors.ts'
import { toFormError } from '../../../core/web/form-error.ts'

const FIELD_MAX_BYTES = 16 * 1024
const FIELDS_MAX = 20
const LIMITS = { files: FIELDS_MAX, fields: FIELDS_MAX, parts: FIELDS_MAX, fieldSize: FIELD_MAX_BYTES }

async function readFields (request: FastifyRequest): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {}
  for await (const part of request.parts({ limits: LIMITS })) {
    if (part.type === 'file') throw badRequest(`The part '${part.fieldname}' is a file; send it as a text field`)
    if (part.valueTruncated) throw new ApiError('TOO_LARGE', `The field '${part.fieldname}' is larger than 16 KiB`)
    fields[part.fieldname] = part.value
  }
  return fields
}

/** Reads the fields of a multipart form, which some apps send in place of a urlencoded one. */
export async function readMultipartForm (request: FastifyRequest): Promise<void> {
  if (!request.isMultipart()) return
  try {
    request.body = await readFields(request)
  } catch (err) {
    throw toFormError(err)
  }
}
