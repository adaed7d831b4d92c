import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { conflict } from '../../../core/errors.ts'
import type { ByteSource } from '../../../core/web/byte-stream.ts'
import type { Checksums } from './checksums.ts'
import type { ZipContent } from './zip.ts'

/** A file of the library as it was when the zip was planned. */
export interface ZippedFile {
  size: number
  modified: Date
  /** Fingerprint of the file on disk, from `fingerprintOf`. */
  fingerprint: string
  /** CRC-32, if the scan knows it. */
  crc: number | null
  open (): Promise<FileHandle>
}

export interface FileAccess {
  /** Returns the fingerprint of an open file. */
  fingerprintOf (handle: FileHandle): Promise<string>
  /** Returns a part of an open file; its `close` closes the file. */
  readFile (handle: FileHandle, start: number, length: number): ByteSource
  checksums: Checksums
}

const PIECE_BYTES = 256 * 1024

/** The cache key contains the path, because two different files can have the same fingerprint. */
const keyOf = (path: string, { fingerprint }: ZippedFile) => `${path}\0${fingerprint}`

/**
 * Returns the content of a file, which is opened when the zip reaches it. A file that changed since then fails the zip,
 * because the zip already declared its size and checksum.
 *
 * @param path distinguishes the file from all other files
 */
export function fileContent (path: string, file: ZippedFile, access: FileAccess): ZipContent {
  const { fingerprintOf, readFile, checksums } = access
  const { size, modified, fingerprint, crc, open } = file

  async function openSame (): Promise<FileHandle> {
    const handle = await open()
    try {
      if (await fingerprintOf(handle) === fingerprint) return handle
      throw conflict(`The file ${JSON.stringify(path)} was changed while the zip was sent; start the download again`)
    } catch (err) {
      await handle.close()
      throw err
    }
  }

  /** Yields the bytes in one buffer: a piece is valid until the next one is requested. */
  async function * readPieces (start: number, end: number): AsyncGenerator<Buffer, void> {
    const source = readFile(await openSame(), start, end - start)
    const buffer = Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - start))
    try {
      for (let length = await source.read(buffer); length > 0; length = await source.read(buffer)) {
        yield buffer.subarray(0, length)
      }
    } finally {
      await source.close()
    }
  }

  async function compute (): Promise<number> {
    let sum = 0
    for await (const piece of readPieces(0, size)) sum = crc32(piece, sum)
    return sum
  }

  /** Reads the whole file and stores its checksum, which is then known at no extra cost. */
  async function * readAll (): AsyncIterable<Buffer> {
    let sum = 0
    for await (const piece of readPieces(0, size)) {
      sum = crc32(piece, sum)
      yield piece
    }
    checksums.set(keyOf(path, file), sum)
  }

  return {
    size,
    modified,
    fingerprint,
    crc,
    checksum: async () => crc ?? await checksums.get(keyOf(path, file), compute),
    async * read (start, end) {
      if (crc === null && start === 0 && end === size) yield * readAll()
      else yield * readPieces(start, end)
    }
  }
}

/** Returns text that the zip itself adds, with a constant modification time. */
export function textContent (text: string): ZipContent {
  const bytes = Buffer.from(text)
  const crc = crc32(bytes)
  return {
    size: bytes.length,
    modified: new Date(0),
    fingerprint: text,
    crc,
    checksum: async () => crc,
    async * read (start, end) { yield bytes.subarray(start, end) }
  }
}
