import { readSync } from 'node:fs'
import { pipeline, Readable } from 'node:stream'
import { createInflateRaw, inflateRawSync } from 'node:zlib'
import yauzl, { type Entry as ZipEntry, type ZipFile } from 'yauzl'
import { errorCode } from '../files/fs-error.ts'
import { compareNames, type Archive, type Entry, type Listing } from './archive.ts'
import { ArchiveError, type Budget } from './limits.ts'
import { readExactly, readPieces, type Source } from './source.ts'

const CHUNK_BYTES = 256 * 1024
const LEAST_BYTES = 1024
/**
 * Members up to this size are unpacked synchronously, because streams would cost more than the content. Nothing else
 * runs meanwhile.
 */
const SMALL_BYTES = 1024 ** 2
const STORED = 0
const DEFLATED = 8
const FILE_TYPE_MASK = 0o170000
const REGULAR_FILE = 0o100000

/** Thrown for a zip whose members use a compression other than deflate. */
export class UnusualZipError extends ArchiveError {}

class TooLongError extends ArchiveError {
  constructor ({ name, size }: Pick<Listing, 'name' | 'size'>) {
    super(`member '${name}' is longer than ${size} bytes`)
  }
}

interface ZipMember extends Listing {
  readonly zipped: ZipEntry
}

/** Reads a zip by its central directory, members in ASCII order. @throws ArchiveError */
export async function openZip (source: Source, budget: Budget): Promise<Archive> {
  const zip = await yauzl.fromRandomAccessReaderPromise(new SourceReader(source), source.size, {
    autoClose: false, lazyEntries: true, decodeStrings: false
  })
  const members = await readMembers(zip, budget)
  const sorted = members.toSorted((a, b) => compareNames(a.name, b.name))
  return {
    list: async () => members,
    async * entries (wanted) {
      budget.restart()
      for (const member of sorted) {
        if (!wanted || wanted.has(member.index)) yield toEntry({ zip, source, budget }, member)
      }
    }
  }
}

class SourceReader extends yauzl.RandomAccessReader {
  readonly #source: Source

  constructor (source: Source) {
    super()
    this.#source = source
  }

  /** Reads synchronously, because a stream for each few bytes of the directory is slow. */
  override read (
    buffer: Buffer, offset: number, length: number, position: number, answer: (err: Error | null, read?: number) => void
  ): void {
    // Lets other work run between two members.
    setImmediate(() => {
      let read: number
      try {
        read = readSync(this.#source.fd, buffer, offset, length, position)
      } catch (error) {
        answer(error instanceof Error ? error : new Error(String(error)))
        return
      }
      answer(null, read)
    })
  }

  override _readStreamForRange (start: number, end: number): Readable {
    return Readable.from(readPieces(this.#source, start, end), { highWaterMark: 1 })
  }
}

async function readMembers (zip: ZipFile, budget: Budget): Promise<ZipMember[]> {
  const members: ZipMember[] = []
  let total = 0
  for await (const entry of zip.eachEntry()) {
    budget.addEntry()
    if (!isRegularFile(entry)) continue
    const name = nameOf(entry)
    if (entry.isEncrypted()) throw new ArchiveError(`member '${name}' is encrypted`)
    if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED) {
      throw new UnusualZipError(`member '${name}' uses compression method ${entry.compressionMethod}`)
    }
    total += entry.uncompressedSize
    budget.assertSize(total)
    members.push({ index: members.length, name, size: entry.uncompressedSize, zipped: entry })
  }
  return members
}

function isRegularFile (entry: ZipEntry): boolean {
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE_MASK
  return entry.fileNameRaw.at(-1) !== 0x2f && (type === 0 || type === REGULAR_FILE)
}

function nameOf (entry: ZipEntry): string {
  return yauzl.getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false)
}

interface Reading {
  readonly zip: ZipFile
  readonly source: Source
  readonly budget: Budget
}

function toEntry (reading: Reading, member: ZipMember): Entry {
  const { index, name, size, zipped } = member
  const isSmall = size <= SMALL_BYTES && zipped.compressedSize <= SMALL_BYTES
  return {
    index,
    name,
    size,
    crc: zipped.crc32,
    content: () => isSmall ? readSmall(reading, member) : readLarge(reading, member)
  }
}

/** Unpacks a member in one call. The size in the zip's directory is the most that is unpacked. */
async function * readSmall ({ zip, source, budget }: Reading, member: ZipMember): AsyncGenerator<Uint8Array> {
  const { zipped } = member
  const { fileDataStart: start } = await zip.readLocalFileHeaderPromise(zipped, { minimal: true })
  const packed = readExactly(source, start, zipped.compressedSize)
  const bytes = zipped.compressionMethod === STORED ? packed : inflate(packed, member)
  budget.addBytes(bytes.length)
  yield bytes
}

function inflate (packed: Buffer, member: ZipMember): Buffer {
  const { size } = member
  try {
    // The extra byte avoids a second piece in which zlib would only find the end of the data.
    return inflateRawSync(packed, { chunkSize: Math.max(LEAST_BYTES, size + 1), maxOutputLength: Math.max(1, size) })
  } catch (error) {
    if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') throw new TooLongError(member)
    throw error
  }
}

async function * readLarge ({ zip, budget }: Reading, member: ZipMember): AsyncGenerator<Uint8Array> {
  let left = member.size
  for await (const piece of await openMember(zip, member.zipped) as AsyncIterable<Buffer>) {
    left -= piece.length
    if (left < 0) throw new TooLongError(member)
    budget.addBytes(piece.length)
    yield piece
  }
}

async function openMember (zip: ZipFile, entry: ZipEntry): Promise<Readable> {
  const raw = await zip.openReadStreamPromise(entry, { decodeFileData: false })
  if (entry.compressionMethod === STORED) return raw
  const chunkSize = Math.max(LEAST_BYTES, Math.min(CHUNK_BYTES, entry.uncompressedSize))
  return pipeline(raw, createInflateRaw({ chunkSize }), () => {
    // Reading the returned stream throws the same error.
  })
}
