import type { FastifyRequest } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { callerOf } from '../../core/access/auth.ts'
import { ApiError, badRequest } from '../../core/errors.ts'
import { toFormError } from '../../core/web/form-error.ts'
import { confirmCaller } from '../auth/confirm-caller.ts'
import { assetsConfig } from './config.ts'
import { findUserFolder } from '../users/user-folder.ts'
import type { Files, StagedFile } from './asset-files.ts'

const FIELD_MAX_BYTES = 64 * 1024
const LIMITS = { files: 4, fields: 100, parts: 20, fieldSize: FIELD_MAX_BYTES }
const WRITES = new Set(['POST', 'PUT', 'PATCH'])

/** The staged files of a form. `discard` deletes the files that were not published. */
export interface UploadForm {
  file (partName: string): StagedFile | null
  /** Returns the part of this name, or else the first file under an unknown name. */
  main (partName: string): StagedFile | null
  discard (): Promise<void>
}

declare module 'fastify' {
  interface FastifyRequest { upload: UploadForm | null }
}

const SCREENSHOT_PART = 'screenshotFile'
const NO_FILES: UploadForm = { file: () => null, main: () => null, discard: async () => {} }

function createForm (staged: ReadonlyMap<string, StagedFile>): UploadForm {
  const other = () => [...staged].find(([name]) => name !== SCREENSHOT_PART)?.[1] ?? null
  return {
    file: (partName) => staged.get(partName) ?? null,
    main: (partName) => staged.get(partName) ?? other(),
    async discard () { for (const file of staged.values()) await file.discard() }
  }
}

/** Checks the announced length. @throws ApiError unless the length is a number, is allowed and fits on the disk */
async function checkLength (request: FastifyRequest, files: Files, maxBytes: number): Promise<void> {
  const given = request.headers['content-length']
  if (given === undefined) return
  if (!/^\d{1,15}$/.test(given)) throw badRequest(`Content-Length must be a number of bytes, not '${given.slice(0, 50)}'`)
  const length = Number(given)
  if (maxBytes > 0 && length > maxBytes) {
    throw new ApiError('TOO_LARGE', `The request has ${length} bytes; ${maxBytes} are allowed. Raise MAX_ASSET_UPLOAD_SIZE_BYTES to send more`)
  }
  if (request.headers['content-type']?.startsWith('multipart/') === true) await files.checkFreeSpace(length)
}

/** Reads uploads. Sizes are checked before the body is read, and files are on disk before a handler runs. */
export function createForms (config: Config, files: Files) {
  async function readParts (
    request: FastifyRequest, staged: Map<string, StagedFile>, folder: string
  ): Promise<Record<string, string>> {
    const fields: Record<string, string> = {}
    for await (const part of request.parts({ limits: { ...LIMITS, fileSize: Infinity } })) {
      if (part.type === 'field') {
        if (part.valueTruncated) throw new ApiError('TOO_LARGE', `The field '${part.fieldname}' is larger than 64 KiB`)
        fields[part.fieldname] = String(part.value)
      } else if (staged.has(part.fieldname)) {
        throw badRequest(`The part '${part.fieldname}' occurs twice; send one file under each name`)
      } else {
        staged.set(part.fieldname, await files.stage(folder, part.filename ?? '', part.file))
      }
    }
    return fields
  }

  return {
    /** Checks the announced length of a write. @throws ApiError BAD_REQUEST · TOO_LARGE · NO_FREE_SPACE */
    async checkLength (request: FastifyRequest): Promise<void> {
      if (WRITES.has(request.method)) await checkLength(request, files, assetsConfig.of(config).max_upload_bytes)
    },

    /**
     * Stages the files of a form. Form fields become query parameters, unless the query has them.
     *
     * @throws ApiError BAD_REQUEST · TOO_LARGE · NOT_AUTHENTICATED or FORBIDDEN if the caller lost the right meanwhile
     */
    async read (request: FastifyRequest): Promise<void> {
      request.upload = NO_FILES
      if (!request.isMultipart()) return
      const staged = new Map<string, StagedFile>()
      request.upload = createForm(staged)
      // Not within the block below, because a lost database does not mean that the form is malformed.
      const folder = await findUserFolder(request.db, callerOf(request).id)
      try {
        const fields = await readParts(request, staged, folder)
        request.query = { ...fields, ...request.query as Record<string, unknown> }
      } catch (err) {
        throw toFormError(err)
      }
      await confirmCaller(request)
    },

    async discard (request: FastifyRequest): Promise<void> { await request.upload?.discard() }
  }
}
export type Forms = ReturnType<typeof createForms>

export function formOf (request: FastifyRequest): UploadForm {
  return request.upload ?? NO_FILES
}

/** @throws ApiError BAD_REQUEST that names the missing part */
export function requireFile (file: StagedFile | null, partName: string): StagedFile {
  if (file === null) throw badRequest(`The file is missing; send it as the part '${partName}' of a multipart form`)
  return file
}
