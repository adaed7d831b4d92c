import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { encodeExtended } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../core/errors.ts'
import type { StoredObject } from '../../core/store/store.ts'
import { parseByteRange } from './byte-range.ts'
import { type Validators, isFresh, isPreconditionFailed, isSameForRange } from './conditions.ts'
import { createFileStream, readFile } from './file-stream.ts'

interface ReplyFields {
  type: string
  cacheControl: string
  /** Without a disposition the response names no file. */
  disposition?: { type: 'attachment' | 'inline', fileName: string }
}

/** An open file to send. */
export interface FileReply extends ReplyFields {
  /** The response closes the handle. */
  handle: FileHandle
  /** The validators of the content; by default those of the file on disk. */
  validators?: Validators
}

/** An open object of the store to send. */
export interface ObjectReply extends ReplyFields {
  /** The response closes the object. */
  object: StoredObject
  /** The validators of the content; by default those of the object. */
  validators?: Validators
}

/** Generated content, of which any range can be produced. */
export interface ContentReply extends ReplyFields {
  size: number
  validators: Validators
  /** Returns the bytes from `start` up to and excluding `end`. Called at most once. */
  read (start: number, end: number): Readable | Promise<Buffer>
}

/** Content of users and of the internet never runs scripts in a browser. */
const CONTENT_SECURITY_POLICY = "sandbox; default-src 'none'"
// eslint-disable-next-line no-control-regex
const NEVER_IN_NAMES = /[\0-\x1f\x7f-\x9f/\\]/g

/**
 * Returns the value of a `Content-Disposition` header, by RFC 6266 and RFC 8187. No control character and no slash
 * passes.
 * Contains both forms of the name, because apps look for either, and some use the first that they find.
 */
export function contentDisposition (type: 'attachment' | 'inline', fileName: string): string {
  const name = fileName.replace(NEVER_IN_NAMES, '_').toWellFormed()
  const ascii = name.replaceAll(/[^ -~]/gu, '?').replaceAll('"', '\\"')
  return `${type}; filename*=${encodeExtended(name)}; filename="${ascii}"`
}

/**
 * Returns the fingerprint of an open file, which changes with the file: a replaced file has another inode, a written
 * file another time.
 */
export const fingerprintOf = async (handle: FileHandle): Promise<string> =>
  toFingerprint(await handle.stat({ bigint: true }))

const toFingerprint = ({ ino, size, mtimeNs }: BigIntStats) => [ino, size, mtimeNs].map((part) => part.toString(36)).join('-')

const toValidators = (stats: BigIntStats): Validators => ({ etag: `"${toFingerprint(stats)}"`, lastModified: stats.mtime.toUTCString() })

function rangeOf (request: FastifyRequest, { size, validators }: ContentReply) {
  const { range } = request.headers
  if (range === undefined || request.method !== 'GET' || !isSameForRange(request.headers, validators)) return null
  return parseByteRange(range, size)
}

const changed = ({ etag }: Validators) => new ApiError('PRECONDITION_FAILED',
  `The file has changed and its ETag is now ${etag}; download it again, or remove the condition`)
const outOfRange = (range: string | undefined, size: number) => new ApiError('RANGE_NOT_SATISFIABLE',
  `The file has ${size} bytes, none of which is in the range '${range}'; request a range inside the file, or remove the range`)

/**
 * Sends the whole content, a range of it, or 304 if the client's copy is current.
 *
 * @throws ApiError PRECONDITION_FAILED, RANGE_NOT_SATISFIABLE
 */
export async function sendContent (
  request: FastifyRequest, reply: FastifyReply, content: ContentReply
): Promise<FastifyReply> {
  const { size, validators, disposition } = content
  if (isPreconditionFailed(request.headers, validators)) throw changed(validators)
  const isCached = isFresh(request.headers, validators)
  const range = isCached ? null : rangeOf(request, content)
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${size}`)
    throw outOfRange(request.headers.range, size)
  }
  const { start, end } = range ?? { start: 0, end: size - 1 }
  // Before the headers, because an error has others.
  const payload = isCached || request.method === 'HEAD' ? null : await content.read(start, end + 1)
  reply.headers({
    etag: validators.etag,
    'accept-ranges': 'bytes',
    'cache-control': content.cacheControl,
    'content-type': content.type,
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'x-content-type-options': 'nosniff'
  })
  if (validators.lastModified !== undefined) reply.header('last-modified', validators.lastModified)
  if (disposition !== undefined) {
    reply.header('content-disposition', contentDisposition(disposition.type, disposition.fileName))
  }
  if (isCached) return reply.code(304).send()
  if (range !== null) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`)
  reply.header('content-length', end - start + 1)
  return payload === null ? reply.send() : reply.send(payload)
}

/** Up to this size, such as most covers, a stream would take more processor time than the file. */
const WHOLE_MAX_BYTES = 64 * 1024

async function readWhole (handle: FileHandle, start: number, length: number): Promise<Buffer> {
  const { read } = readFile(handle, start, length)
  const content = Buffer.allocUnsafe(length)
  for (let at = 0; at < length;) at += await read(content.subarray(at))
  return content
}

type DescribedFile = Omit<ContentReply, 'read'> & { handle: FileHandle }

/** Sends an open file whose size is known. */
async function sendHandle (request: FastifyRequest, reply: FastifyReply, file: DescribedFile): Promise<FastifyReply> {
  const { handle } = file
  let isRead = false
  try {
    return await sendContent(request, reply, {
      ...file,
      read (start, end) {
        if (end - start <= WHOLE_MAX_BYTES) return readWhole(handle, start, end - start)
        isRead = true
        return createFileStream(handle, start, end - start)
      }
    })
  } finally {
    if (!isRead) await handle.close()
  }
}

/** Sends an open file. */
export async function sendFile (request: FastifyRequest, reply: FastifyReply, file: FileReply): Promise<FastifyReply> {
  const stats = await file.handle.stat({ bigint: true }).catch(async (err: unknown) => {
    await file.handle.close()
    throw err
  })
  return await sendHandle(request, reply, {
    ...file, size: Number(stats.size), validators: file.validators ?? toValidators(stats)
  })
}

/** Sends an open object of the store. An object on this machine is sent as a file. */
export async function sendObject (
  request: FastifyRequest, reply: FastifyReply, file: ObjectReply
): Promise<FastifyReply> {
  const { object, ...fields } = file
  const { handle, size, version, modifiedAt } = object
  const validators = file.validators ?? { etag: `"${version}"`, lastModified: modifiedAt.toUTCString() }
  if (handle !== null) return await sendHandle(request, reply, { ...fields, handle, size, validators })
  return await sendContent(request, reply, {
    ...fields,
    size,
    validators,
    // A failure of the store then gets a status, because no header was sent.
    read: (start, end) => end - start <= WHOLE_MAX_BYTES ? buffer(object.read(start, end)) : object.read(start, end)
  })
}
