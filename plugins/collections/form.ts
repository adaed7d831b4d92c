import type { FastifyRequest } from 'fastify'
import { ApiError, badRequest } from '../../core/errors.ts'
import { toFormError } from '../../core/web/form-error.ts'
import { COVER_MAX_BYTES, type Covers, type StagedCover } from './covers.ts'

/** Maximum size of a field, because the JSON list of members may be as long as a JSON body. */
const FIELD_MAX_BYTES = 1024 ** 2
const LIMITS = { fileSize: COVER_MAX_BYTES, files: 4, fieldSize: FIELD_MAX_BYTES, fields: 20, parts: 20 }
const FORM_MAX_BYTES = COVER_MAX_BYTES + 2 * FIELD_MAX_BYTES

declare module 'fastify' {
  interface FastifyRequest {
    /** The staged picture of a collection's form. */
    cover: StagedCover | null
  }
}

/** Creates the reader of collection forms. Fields become the body, and the picture is on disk before a handler runs. */
export function createForms (covers: Covers) {
  async function readParts (request: FastifyRequest): Promise<Record<string, unknown>> {
    const fields: Record<string, unknown> = {}
    for await (const part of request.parts({ limits: LIMITS })) {
      if (part.type === 'field') {
        if (part.valueTruncated) throw new ApiError('TOO_LARGE', `The field '${part.fieldname}' is larger than 1 MiB`)
        fields[part.fieldname] = part.value
      } else if (part.fieldname !== 'artwork' || part.filename === '' || part.filename === undefined) {
        // Browsers send such a part for an empty file field.
        part.file.resume()
      } else if (request.cover !== null) {
        throw badRequest("The part 'artwork' occurs twice; send one picture")
      } else {
        request.cover = await covers.upload(part.filename, part.file)
      }
    }
    return fields
  }

  return {
    async read (request: FastifyRequest): Promise<void> {
      if (!request.isMultipart()) {
        request.body ??= {}
        return
      }
      if (Number(request.headers['content-length'] ?? 0) > FORM_MAX_BYTES) {
        throw new ApiError('TOO_LARGE', `The form is larger than ${FORM_MAX_BYTES} bytes; send a smaller cover`)
      }
      try {
        request.body = await readParts(request)
      } catch (err) {
        throw toFormError(err)
      }
    },

    async discard (request: FastifyRequest): Promise<void> { await request.cover?.discard() }
  }
}
export type Forms = ReturnType<typeof createForms>
