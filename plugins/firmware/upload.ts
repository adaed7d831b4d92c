import type { FastifyRequest } from 'fastify'
import { invalid } from '../../core/errors.ts'
import { toFormError } from '../assets/upload-form.ts'
import type { FirmwareFolder, FirmwareFolders, StagedFirmware } from './folder.ts'

const PART = 'files'
const LIMITS = { files: 20, fields: 100, parts: 120, fieldSize: 64 * 1024, fileSize: Infinity }

/** What a form brought: every part that was meant as a file, and the files that had a name. */
export interface FirmwareUpload { parts: number, staged: StagedFirmware[] }

/** @throws ApiError INVALID unless there are parts of the name that files have. */
const missingParts = () => invalid(['body', PART], `must hold files, each as a part '${PART}' of a multipart form`, undefined,
  'missing')

/** How much a request says that it brings. */
export const announcedBytes = ({ headers }: FastifyRequest): number => Number(headers['content-length'] ?? 0) || 0

/**
 * Writes the files of a form into a folder, none of them in its place yet.
 *
 * @throws ApiError; then nothing of them is left.
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
