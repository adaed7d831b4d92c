import { randomUUID } from 'node:crypto'
import { lstat, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { ApiError, badRequest, invalid } from '../../../core/errors.ts'
import { createFolder } from '../../../core/files/create-folder.ts'
import { isNotFoundError } from '../../../core/files/fs-error.ts'
import { writeUpload } from '../../../core/files/write-upload.ts'
import { toFormError } from '../../../core/web/form-error.ts'
import { isDatName } from './read-members.ts'

const PART = 'files'
const LIMITS = { files: 20, fields: 20, parts: 40, fieldSize: 64 * 1024, fileSize: Infinity }
const FIELDS_MAX_BYTES = LIMITS.fields * LIMITS.fieldSize
/** Older files belong to tasks that were stopped before they began. */
const OLD_MS = 7 * 86_400_000

/** An uploaded file that waits for its task: its name in the folder of uploads, and the name that it had. */
export const StagedDatSchema = Type.Object({ file: Type.String(), name: Type.String() })
export type StagedDat = Static<typeof StagedDatSchema>

/** The folder of uploads, in which every file has a name of the server's own. */
export const uploadFolder = (dataDir: string) => join(dataDir, 'dat-uploads')

/** Stages one file. @throws ApiError BAD_REQUEST, TOO_LARGE, NO_FREE_SPACE */
export async function stageDat (
  folder: string, name: string, content: AsyncIterable<Buffer>, maxBytes: number
): Promise<StagedDat> {
  const shown = name.replace(/^.*[\\/]/, '').slice(0, 200)
  if (!isDatName(shown)) throw badRequest(`'${shown}' is not the name of a DAT; upload a .dat or .xml file, or a .zip or .7z of them`)
  await createFolder(folder, 0o700)
  const file = randomUUID()
  const handle = await open(join(folder, file), 'wx', 0o600)
  try {
    const tooLarge = () => new ApiError('TOO_LARGE', `'${shown}' has more than ${maxBytes} bytes; raise MAX_DAT_UPLOAD_SIZE_BYTES to upload it`)
    await writeUpload(handle, content, { folder, maxBytes, tooLarge }, () => {})
  } catch (err) {
    await rm(join(folder, file), { force: true })
    throw err
  } finally {
    await handle.close()
  }
  return { file, name: shown }
}

export async function discardStaged (folder: string, staged: readonly StagedDat[]): Promise<void> {
  for (const { file } of staged) await rm(join(folder, file), { force: true })
}

/** Stages the files of a form. @throws ApiError; then no file remains */
export async function readUploadForm (request: FastifyRequest, folder: string, maxBytes: number): Promise<StagedDat[]> {
  const missing = invalid(['body', PART], `must contain files, each as a part '${PART}' of a multipart form`, undefined, 'missing')
  if (!request.isMultipart()) throw missing
  const announced = Number(request.headers['content-length'] ?? 0)
  if (maxBytes > 0 && announced > LIMITS.files * maxBytes + FIELDS_MAX_BYTES) {
    throw new ApiError('TOO_LARGE', `The form has ${announced} bytes; each of its ${LIMITS.files} files may have ${maxBytes}. ` +
      'Raise MAX_DAT_UPLOAD_SIZE_BYTES to upload more')
  }
  const staged: StagedDat[] = []
  try {
    for await (const part of request.parts({ limits: LIMITS })) {
      if (part.type === 'field') continue
      if (part.fieldname === PART) staged.push(await stageDat(folder, part.filename ?? '', part.file, maxBytes))
      else part.file.resume()
    }
  } catch (err) {
    await discardStaged(folder, staged)
    throw toFormError(err)
  }
  if (staged.length === 0) throw missing
  return staged
}

/** Returns null for a file that another task has deleted meanwhile. */
async function findTime (path: string): Promise<number | null> {
  try {
    return (await lstat(path)).mtimeMs
  } catch (err) {
    if (isNotFoundError(err)) return null
    throw err
  }
}

/** Deletes uploads whose task never began. */
export async function deleteOldUploads (folder: string): Promise<void> {
  const names = await readdir(folder).catch((err: unknown) => {
    if (isNotFoundError(err)) return []
    throw err
  })
  for (const name of names) {
    const time = await findTime(join(folder, name))
    if (time !== null && time < Date.now() - OLD_MS) await rm(join(folder, name), { force: true })
  }
}
