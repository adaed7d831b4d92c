import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'

/** The body of a response that is still arriving, with the headers that describe it. */
export interface IncomingBody {
  readonly stream: Readable
  /** Bytes on the wire according to `Content-Length`, or null. */
  readonly length: number | null
  /** The `Content-Encoding`, lower case, or an empty string. */
  readonly encoding: string
}

/** The response could not be written to this machine's disk. The service is not at fault. */
export class FileWriteError extends Error {
  override readonly name = 'FileWriteError'
}

/** The body is too large or not encoded as its headers say. The message continues after the name of the request. */
export class BadBodyError extends Error {
  override readonly name = 'BadBodyError'
}

const DECODERS = new Map<string, (first: Buffer) => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
  // Some servers send raw deflate under this name: a zlib header (RFC 1950) has 8 in its low four bits.
  ['deflate', (first) => ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw()]
])

export const ACCEPT_ENCODING = 'gzip, deflate, br'

/**
 * Reads a body into memory. @throws BadBodyError if the body is larger than `maxBytes`, packed or unpacked, or not
 * encoded as its headers say.
 */
export async function readBody (body: IncomingBody, maxBytes: number): Promise<Buffer> {
  if (isPlain(body) && (body.length ?? 0) <= maxBytes) return await collect(body.stream, maxBytes)
  const chunks: Buffer[] = []
  for await (const chunk of openBody(body, maxBytes)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Collects a plain body by events, because iterating would cost more than the bytes of most responses. */
function collect (stream: Readable, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes > maxBytes) stream.destroy(tooLargeError(maxBytes))
    })
    stream.on('error', reject)
    stream.on('end', () => { resolve(Buffer.concat(chunks)) })
    // A stream that failed earlier emits no further error.
    if (stream.errored !== null) reject(stream.errored)
  })
}

/** Appends chunks until they hold so many bytes, or the body ends. */
async function collectStart (body: IncomingBody, bytes: number, chunks: Buffer[]): Promise<void> {
  let length = 0
  for await (const chunk of openBody({ ...body, length: null }, Infinity)) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= bytes) break
  }
}

/** Returns the beginning of a body, for an error message. */
export async function readStart (body: IncomingBody, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  await collectStart(body, bytes, chunks)
  return Buffer.concat(chunks).subarray(0, bytes)
}

/** Returns the beginning of a body that nobody needs whole: less of it if it breaks off or is wrongly encoded. */
export async function readTruncated (body: IncomingBody, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  await collectStart(body, bytes, chunks).catch(() => { body.stream.destroy() })
  return Buffer.concat(chunks).subarray(0, bytes)
}

/**
 * Writes a body beside `path` and renames it when complete, so that `path` never holds half a file.
 *
 * @returns the bytes written
 * @throws BadBodyError as readBody does · FileWriteError if the disk is full or the folder missing
 */
export async function writeBody (body: IncomingBody, path: string, maxBytes: number): Promise<number> {
  const partial = `${path}.${randomBytes(6).toString('hex')}.part`
  try {
    const bytes = await writeNew(body, partial, maxBytes)
    if (bytes === 0) throw new BadBodyError('answered with an empty file')
    await onDisk(path, () => rename(partial, path))
    return bytes
  } catch (err) {
    body.stream.destroy()
    await rm(partial, { force: true })
    throw err
  }
}

/** Writes a new file. The flag `wx` makes it fail instead of following a link that somebody placed there. */
async function writeNew (body: IncomingBody, path: string, maxBytes: number): Promise<number> {
  const file = await onDisk(path, () => open(path, 'wx'))
  try {
    return await writeChunks(body, file, path, maxBytes)
  } finally {
    await file.close()
  }
}

async function writeChunks (body: IncomingBody, file: FileHandle, path: string, maxBytes: number): Promise<number> {
  let bytes = 0
  for await (const chunk of openBody(body, maxBytes)) {
    await onDisk(path, () => file.writeFile(chunk))
    bytes += chunk.length
  }
  return bytes
}

async function onDisk<T> (path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (err) {
    const reason = err instanceof Error ? err.message : String(err)
    throw new FileWriteError(`Cannot write '${path}': ${reason}; check the folder and the space left`, { cause: err })
  }
}

const isPlain = ({ encoding }: Pick<IncomingBody, 'encoding'>) => encoding === '' || encoding === 'identity'

/** Yields the decoded bytes of a body. @throws BadBodyError as readBody does */
export async function * openBody (
  { stream, length, encoding }: IncomingBody, maxBytes: number
): AsyncGenerator<Buffer> {
  if (length !== null && length > maxBytes) {
    stream.destroy()
    throw tooLargeError(maxBytes)
  }
  const packed = limit(stream, maxBytes)
  if (isPlain({ encoding })) yield * packed
  else yield * limit(unpack(packed, encoding), maxBytes)
}

async function * limit (chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxBytes) throw tooLargeError(maxBytes)
    yield chunk
  }
}

function tooLargeError (maxBytes: number): BadBodyError {
  return new BadBodyError(`answered with more than the ${maxBytes.toLocaleString('en')} bytes allowed`)
}

/** Decodes a body. An empty body is accepted with any encoding: HEAD, 204 and careless servers send one. */
async function * unpack (packed: AsyncGenerator<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const createDecoder = DECODERS.get(encoding)
  const first = await packed.next()
  if (first.done === true) return
  if (createDecoder === undefined) {
    await packed.return(undefined)
    throw new BadBodyError(`answered with the encoding '${encoding}', which the request did not accept`)
  }
  const decoder = createDecoder(first.value)
  // The decoder is destroyed with the error of any stage, and reading it below throws that error.
  pipeline(Readable.from(prepend(first.value, packed)), decoder, () => {})
  yield * decoder
}

async function * prepend (first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield * rest
}
