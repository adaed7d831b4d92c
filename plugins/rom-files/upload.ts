import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Digest } from '../../core/archives/digest.ts'
import type { Hashes } from '../../core/archives/types.ts'
import { badRequest } from '../../core/errors.ts'
import { createFolder } from '../../core/files/create-folder.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { PathRefusedError, safeName } from '../../core/files/safe-path.ts'
import { type UploadLimits, writeUpload } from '../../core/files/write-upload.ts'
import { readPieces } from '../../core/web/unread-bodies.ts'
import { toFormError } from '../../core/web/form-error.ts'
import { confirmCaller } from '../auth/confirm-caller.ts'
import type { FileKind } from './kinds.ts'

const LIMITS = { files: 4, fields: 20, parts: 24, fieldSize: 64 * 1024, fileSize: Infinity }
const NAME_HEADER = 'x-upload-filename'

/** Size limit of a file; `maxBytes` 0 means no limit. */
export type SizeLimit = Pick<UploadLimits, 'maxBytes' | 'tooLarge' | 'reserve'>
const ANY_SIZE: SizeLimit = { maxBytes: 0, tooLarge: () => new Error('Files of any size are accepted') }

/** A complete file on disk under a temporary name. */
export interface ReceivedFile extends Hashes {
  path: string
  file_size_bytes: number
}

/** True if a body ended early because the client disconnected. */
export const isCutOff = (err: unknown): boolean => ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(errorCode(err))

/** Decodes a header value from bytes: UTF-8 if valid, else Latin-1. */
function decode (header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'))
  } catch {
    return header
  }
}

/** Returns the name that a request gives its file. */
export const readGivenName = (request: FastifyRequest): string => decode(String(request.headers[NAME_HEADER] ?? ''))

/**
 * Returns the name of the file that a request contains.
 *
 * @param allowsPath true uses the last part of a path; false refuses a path
 * @throws ApiError BAD_REQUEST for a name that no file can have, or of another kind
 */
export function readFileName (request: FastifyRequest, { extensions }: FileKind, allowsPath: boolean): string {
  const given = readGivenName(request)
  const name = allowsPath ? given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1) : given
  try {
    safeName(name)
  } catch (err) {
    if (!(err instanceof PathRefusedError)) throw err
    throw badRequest(`${err.message}; send another ${NAME_HEADER}`)
  }
  const extension = extname(name).slice(1).toLowerCase()
  if (!extensions.includes(extension)) {
    throw badRequest(`'${name}' has an extension that is not accepted here; send a file with one of .${extensions.join(', .')}`)
  }
  return name
}

async function write (path: string, folder: string, content: Readable, limit: SizeLimit): Promise<ReceivedFile> {
  const digest = new Digest()
  const file = await open(path, 'wx', 0o666)
  try {
    const size = await writeUpload(file, readPieces(content), { folder, ...limit }, (piece) => { digest.update(piece) })
    return { path, file_size_bytes: size, ...digest.hashes() }
  } finally {
    await file.close()
  }
}

async function receiveFile (folder: string, content: Readable, limit: SizeLimit): Promise<ReceivedFile> {
  await createFolder(folder)
  const path = join(folder, `.${randomUUID()}.part`)
  try {
    const arrived = await write(path, folder, content, limit)
    if (arrived.file_size_bytes === 0) throw badRequest('The file is empty; send its content')
    return arrived
  } catch (err) {
    await rm(path, { force: true })
    throw isCutOff(err) ? badRequest('The upload was interrupted; send it again') : err
  }
}

async function readParts (request: FastifyRequest, folder: string, limit: SizeLimit): Promise<ReceivedFile> {
  const name = readGivenName(request)
  let arrived: ReceivedFile | null = null
  try {
    for await (const part of request.parts({ limits: LIMITS })) {
      if (part.type !== 'file') continue
      if (decode(part.fieldname) !== name && part.fieldname !== name) part.file.resume()
      else if (arrived === null) arrived = await receiveFile(folder, part.file, limit)
      else throw badRequest(`The part '${name}' occurs twice; send one file`)
    }
  } catch (err) {
    if (arrived !== null) await rm(arrived.path, { force: true })
    throw toFormError(err)
  }
  if (arrived === null) throw badRequest(`The form has no part '${name}'; give the part the name in ${NAME_HEADER}`)
  return arrived
}

async function receiveAny (request: FastifyRequest, folder: string, limit: SizeLimit): Promise<ReceivedFile> {
  if (request.isMultipart()) return await readParts(request, folder, limit)
  return await receiveFile(folder, request.body instanceof Readable ? request.body : Readable.from([]), limit)
}

/**
 * Writes the file of a request to a folder, under a name that scans skip. The file is a part of a form, or the body.
 *
 * @throws ApiError; then no file remains. NOT_AUTHENTICATED or FORBIDDEN if the caller lost the right while it arrived
 */
export async function receive (
  request: FastifyRequest, folder: string, limit = ANY_SIZE
): Promise<ReceivedFile> {
  const arrived = await receiveAny(request, folder, limit)
  try {
    await confirmCaller(request)
    return arrived
  } catch (err) {
    await rm(arrived.path, { force: true })
    throw err
  }
}
