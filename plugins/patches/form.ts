import type { FileHandle } from 'node:fs/promises'
import type { FastifyRequest } from 'fastify'
import { badRequest } from '../../core/errors.ts'
import { writeUpload } from '../../core/files/write-upload.ts'
import { ID_MAX } from '../../core/typebox.ts'
import { toFormError } from '../../core/web/form-error.ts'
import { openNameless } from './temporary.ts'

const LIMITS = { files: 2, fields: 20, parts: 22, fieldSize: 64 * 1024, fileSize: Infinity }
const FIELDS_MAX_BYTES = LIMITS.fields * LIMITS.fieldSize
const PART = 'patch_file'

/** An open file, and its name. Its receiver closes it. */
export interface NamedFile { name: string, handle: FileHandle }

/** The content of a form. */
export interface PatchForm {
  /** The id of a patch in the library, or an uploaded patch. */
  patch: number | NamedFile
  /** The name as given; empty for none. */
  outputName: string
}

interface Parts { fields: Map<string, string>, sent: NamedFile | null }

function toForm ({ fields, sent }: Parts): PatchForm {
  const id = fields.get('patch_file_id') ?? ''
  if ((id === '') === (sent === null)) {
    throw badRequest(`Send either patch_file_id, the id of a patch in the library, or a patch as the part '${PART}'`)
  }
  const outputName = fields.get('output_file_name') ?? ''
  if (sent !== null) return { patch: sent, outputName }
  if (!/^\d{1,10}$/.test(id) || Number(id) > ID_MAX) throw badRequest(`patch_file_id must be an id, not '${id.slice(0, 50)}'`)
  return { patch: Number(id), outputName }
}

/**
 * Reads a form. An uploaded patch is stored on disk as a file without a name.
 *
 * @throws ApiError BAD_REQUEST, NO_FREE_SPACE
 */
export async function readPatchForm (request: FastifyRequest, folder: string, maxBytes: number): Promise<PatchForm> {
  const parts: Parts = { fields: new Map(), sent: null }
  const tooLarge = () => badRequest(`A patch may have at most ${maxBytes} bytes; raise ROM_PATCHER_MAX_FILE_SIZE_BYTES to use larger ones`)
  try {
    if (!request.isMultipart()) return toForm(parts)
    const announced = Number(request.headers['content-length'] ?? 0)
    if (maxBytes > 0 && announced > maxBytes + FIELDS_MAX_BYTES) throw tooLarge()
    for await (const part of request.parts({ limits: LIMITS })) {
      if (part.type === 'field') {
        parts.fields.set(part.fieldname, String(part.value))
      } else if (part.fieldname !== PART || parts.sent !== null) {
        part.file.resume()
      } else {
        parts.sent = { name: part.filename ?? '', handle: await openNameless(folder) }
        await writeUpload(parts.sent.handle, part.file, { folder, maxBytes, tooLarge }, () => {})
      }
    }
    return toForm(parts)
  } catch (err) {
    await parts.sent?.handle.close()
    throw toFormError(err)
  }
}
