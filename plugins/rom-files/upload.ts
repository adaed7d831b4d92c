import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { badRequest } from '../../core/errors.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { PathRefusedError, safeName } from '../../core/files/safe-path.ts'
import type { FileKind } from './kinds.ts'

/** How much is written until the free space is looked at again. */
const FREE_CHECK_BYTES = 64 * 1024 ** 2
const LIMITS = { files: 4, fields: 20, parts: 24, fieldSize: 64 * 1024, fileSize: Infinity }
export const NAME_HEADER = 'x-upload-filename'

/** A file that lies complete on disk, and nowhere yet. */
export interface Arrived {
  path: string
  file_size_bytes: number
  crc_hash: string
  md5_hash: string
  sha1_hash: string
}

/** Header values are bytes: UTF-8 where they can be, else Latin-1. */
function decode (header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'))
  } catch {
    return header
  }
}

/**
 * The name of the file that a request brings.
 *
 * @param takesPath whether only the last part of a path counts; else a path is refused
 * @throws ApiError BAD_REQUEST for a name that no file can have, or that is of another kind
 */
export function readFileName (request: FastifyRequest, { extensions }: FileKind, takesPath: boolean): string {
  const given = decode(String(request.headers[NAME_HEADER] ?? ''))
  const name = takesPath ? given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1) : given
  try {
    safeName(name)
  } catch (err) {
    if (!(err instanceof PathRefusedError)) throw err
    throw badRequest(`${err.message}; send another ${NAME_HEADER}`)
  }
  const extension = extname(name).slice(1).toLowerCase()
  if (!extensions.includes(extension)) {
    throw badRequest(`'${name}' is of no kind that is taken here; send one of .${extensions.join(', .')}`)
  }
  return name
}

async function write (path: string, folder: string, content: Readable): Promise<Arrived> {
  const [md5, sha1] = [createHash('md5'), createHash('sha1')]
  const file = await open(path, 'wx', 0o640)
  let [size, checked, crc] = [0, 0, 0]
  try {
    await requireFreeSpace(folder, 0)
    for await (const chunk of content as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size - checked >= FREE_CHECK_BYTES) {
        await requireFreeSpace(folder, chunk.length)
        checked = size
      }
      md5.update(chunk)
      sha1.update(chunk)
      crc = crc32(chunk, crc)
      await file.writeFile(chunk)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return {
    path, file_size_bytes: size, crc_hash: crc.toString(16).padStart(8, '0'), md5_hash: md5.digest('hex'), sha1_hash: sha1.digest('hex')
  }
}

async function arrive (folder: string, content: Readable): Promise<Arrived> {
  await mkdir(folder, { recursive: true })
  const path = join(folder, `.${randomUUID()}.part`)
  try {
    const arrived = await write(path, folder, content)
    if (arrived.file_size_bytes === 0) throw badRequest('The file is empty; send its content')
    return arrived
  } catch (err) {
    await rm(path, { force: true })
    throw err
  }
}

async function readParts (request: FastifyRequest, name: string, folder: string): Promise<Arrived> {
  let arrived: Arrived | null = null
  try {
    for await (const part of request.parts({ limits: LIMITS })) {
      if (part.type !== 'file') continue
      if (decode(part.fieldname) !== name && part.fieldname !== name) part.file.resume()
      else if (arrived === null) arrived = await arrive(folder, part.file)
      else throw badRequest(`The part '${name}' is there twice; send one file`)
    }
  } catch (err) {
    if (arrived !== null) await rm(arrived.path, { force: true })
    if (err instanceof Error && ('statusCode' in err || 'syscall' in err)) throw err
    throw badRequest(`The form cannot be read: ${err instanceof Error ? err.message : String(err)}`)
  }
  if (arrived === null) throw badRequest(`The form has no part '${name}'; name it as ${NAME_HEADER} does`)
  return arrived
}

/** Brings the file of a request to a folder, under a name that scans leave out: of a form, or the body itself. */
export async function receive (request: FastifyRequest, givenName: string, folder: string): Promise<Arrived> {
  if (request.isMultipart()) return await readParts(request, givenName, folder)
  return await arrive(folder, request.body as Readable)
}

export const givenNameOf = (request: FastifyRequest): string => decode(String(request.headers[NAME_HEADER] ?? ''))
