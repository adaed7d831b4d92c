import { promisify } from 'node:util'
import { constants, crc32, deflateRaw } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createSemaphore } from '../concurrency/semaphore.ts'
import { type ByteSource, ByteStream } from './byte-stream.ts'
import { negotiateEncoding, vary } from './compression.ts'

const deflate = promisify(deflateRaw)

/** Each deflated piece ends at a whole byte and refers to no earlier bytes. Other pieces may come before and after. */
const OPTIONS = { level: 3, finishFlush: constants.Z_SYNC_FLUSH }
/** Numbers hardly repeat, so a search for repetitions would cost time and bytes. The window for it is the smallest. */
const DIGITS_OPTIONS = { ...OPTIONS, strategy: constants.Z_HUFFMAN_ONLY, windowBits: 9 }
/** As many as zlib has threads. Each takes 256 kB, also while it waits for a thread. */
const deflating = createSemaphore(4)
/** Deflates a piece, into memory of its own: zlib's result is part of a buffer five times as large as most pieces. */
async function deflatePiece (bytes: Buffer, isDigits = false): Promise<Buffer> {
  const deflated = await deflating.run(() => deflate(bytes, isDigits ? DIGITS_OPTIONS : OPTIONS))
  const copy = Buffer.allocUnsafeSlow(deflated.length)
  deflated.copy(copy)
  return copy
}

/** JSON that is sent many times, such as the ids of a million ROMs. The text is deflated once, at its first use. */
export class CachedText {
  readonly bytes: Buffer
  readonly #isDigits: boolean
  #deflated: Promise<Buffer> | null = null

  constructor (text: string, { isDigits = false }: { isDigits?: boolean } = {}) {
    this.bytes = Buffer.from(text)
    this.#isDigits = isDigits
  }

  /** Estimated bytes of the plain and the deflated text together, if the text is mostly digits. */
  get size (): number {
    return this.bytes.length * 3 / 2
  }

  deflated (): Promise<Buffer> {
    this.#deflated ??= deflatePiece(this.bytes, this.#isDigits)
    return this.#deflated
  }
}

/** JSON in pieces, of which some are cached. */
export type JsonPieces = readonly JsonPiece[]
type JsonPiece = string | Buffer | CachedText

/** A gzip header (https://www.rfc-editor.org/rfc/rfc1952): deflate, no flags, no time, unknown operating system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
/** The last deflate block, which is empty. */
const END = Buffer.from([3, 0])

/** The largest response that is written at once. */
const WHOLE_BYTES = 128 * 1024

interface Piece { bytes: Buffer, deflated: Promise<Buffer> }

const bytesOf = (piece: JsonPiece): Buffer =>
  typeof piece === 'string' ? Buffer.from(piece) : piece instanceof CachedText ? piece.bytes : piece

const toPiece = (piece: JsonPiece): Piece => {
  const bytes = bytesOf(piece)
  if (piece instanceof CachedText) return { bytes, deflated: piece.deflated() }
  return { bytes, deflated: deflatePiece(bytes) }
}

const sizeOf = (parts: readonly Buffer[]) => parts.reduce((size, { length }) => size + length, 0)

/** Returns the parts of a gzip file. */
async function gzipPieces (pieces: JsonPieces): Promise<Buffer[]> {
  const parts = pieces.map(toPiece)
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(parts.reduce((sum, { bytes }) => crc32(bytes, sum), 0))
  trailer.writeUInt32LE(sizeOf(parts.map(({ bytes }) => bytes)) % 2 ** 32, 4)
  return [HEADER, ...await Promise.all(parts.map(({ deflated }) => deflated)), END, trailer]
}

/** Reads parts one after the other as if they were one file. */
function readParts (parts: readonly Buffer[]): ByteSource {
  let [index, position] = [0, 0]
  return {
    async read (buffer) {
      let length = 0
      for (let part = parts[index]; part !== undefined && length < buffer.length; part = parts[index]) {
        const copied = part.copy(buffer, length, position)
        length += copied
        position += copied
        if (position < part.length) continue
        index++
        position = 0
      }
      return length
    },
    async close () {}
  }
}

/** Sends parts. Of a long response only two buffers are in memory for each client; the cached texts are shared. */
function sendParts (reply: FastifyReply, parts: readonly Buffer[]): FastifyReply {
  const size = sizeOf(parts)
  if (size <= WHOLE_BYTES) return reply.send(Buffer.concat(parts))
  return reply.header('content-length', size).send(new ByteStream(readParts(parts)))
}

/** Sends JSON in pieces. Clients that accept gzip get the cached deflated pieces without another compression. */
export async function sendPieces (
  request: FastifyRequest, reply: FastifyReply, pieces: JsonPieces
): Promise<FastifyReply> {
  reply.type('application/json; charset=utf-8')
  vary(reply)
  if (negotiateEncoding(request, ['gzip']) === null) {
    return sendParts(reply, pieces.map(bytesOf))
  }
  return sendParts(reply.header('content-encoding', 'gzip'), await gzipPieces(pieces))
}
