import type { FastifyRequest } from 'fastify'
import { invalid } from '../../core/errors.ts'
import { toFormError } from '../../core/web/form-error.ts'
import type { FirmwareFolder, FirmwareFolders, StagedFirmware } from './folder.ts'
import { FILES_MAX } from './schemas.ts'

const PART = 'files'
const LIMITS = { files: FILES_MAX, fields: 100, parts: FILES_MAX + 100, fieldSize: 64 * 1024, fileSize: Infinity }

/** The content of a form: the number of its file parts, and the staged files that had a name. */
export interface FirmwareUpload { parts: number, staged: StagedFirmware[] }

/** Creates the error for a form without parts of the right name. */
const missingParts = () => invalid(['body', PART], `must contain files, each as a part '${PART}' of a multipart form`, undefined,
  'missing')

/** Returns the size that a request announces; 0 if unknown. */
export const announcedBytes = ({ headers }: FastifyRequest): number => Number(headers['content-length'] ?? 0) || 0

/**
 * Stages the files of a form in a folder.
 *
 * @throws ApiError; then no part of the files remains.
 */
export async function readFirmware (
  request: FastifyRequest, folders: FirmwareFolders, folder: FirmwareFolder
): Promise<FirmwareUpload> {
  if (!request.isMultipart()) throw missingParts()
  const upload: FirmwareUpload = { parts: 0, staged: [] }
  try {
    for await (const part of request.parts({ limits: LIMITS, preservePath: true })) {
      if (part.fieldname === PART) upload.parts++
      if (part.type === 'field') continue
      if (part.fieldname === PART && (part.filename ?? '') !== '') {
        upload.staged.push(await folders.stage(folder, part.filename, part.file))
      } else {
        part.file.resume()
      }
    }
    if (upload.parts === 0) throw missingParts()
    return upload
  } catch (err) {
    await discardAll(upload.staged)
    throw toFormError(err)
  }
}

export async function discardAll (staged: readonly StagedFirmware[]): Promise<void> {
  for (const file of staged) await file.discard()
}
