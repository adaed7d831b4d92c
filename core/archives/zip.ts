import { pipeline, Readable } from 'node:stream'
import { createInflateRaw } from 'node:zlib'
import yauzl, { type Entry as ZipEntry, type ZipFile } from 'yauzl'
import { compareNames, type Archive, type Entry, type Listing } from './archive.ts'
import { ArchiveError, type Budget } from './limits.ts'
import { readPieces, type Source } from './source.ts'

const CHUNK_BYTES = 256 * 1024
const LEAST_BYTES = 1024
const STORED = 0
const DEFLATED = 8
const FILE_TYPE_MASK = 0o170000
const REGULAR_FILE = 0o100000

/** Thrown for a zip whose members are compressed by other means than deflate. */
export class UnusualZipError extends ArchiveError {}

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
        if (!wanted || wanted.has(member.index)) yield toEntry(zip, member, budget)
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

  override _readStreamForRange (start: number, end: number): Readable {
    return Readable.from(readPieces(this.#source, start, end), { highWaterMark: 1 })
  }
}

async function readMembers (zip: ZipFile, budget: Budget): Promise<ZipMember[]> {
  const members: ZipMember[] = []
  let total = 0
  for await (const entry of zip.eachEntry()) {
    budget.addEntries()
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

function toEntry (zip: ZipFile, { index, name, size, zipped }: ZipMember, budget: Budget): Entry {
  return {
    index,
    name,
    size,
    crc: zipped.crc32,
    async * content () {
      let left = size
      for await (const piece of await openMember(zip, zipped) as AsyncIterable<Buffer>) {
        left -= piece.length
        if (left < 0) throw new ArchiveError(`member '${name}' is longer than ${size} bytes`)
        budget.addBytes(piece.length)
        yield piece
      }
    }
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
