import type { Readable } from 'node:stream'
import { sha256 } from '../../../core/access/secrets.ts'
import { type ByteSource, ByteStream } from '../../../core/web/byte-stream.ts'
import { type ZipMember, centralHeader, dataDescriptor, endRecords, localHeader } from './zip-records.ts'

/** The content of a zip entry. */
export interface ZipContent {
  size: number
  modified: Date
  /** A value that differs for different bytes. */
  fingerprint: string
  /** CRC-32; null if the content must be read to compute the checksum. */
  crc: number | null
  /** Returns the CRC-32, if necessary by reading the content. */
  checksum (): Promise<number>
  /** Reads the bytes from `start` to `end`, `end` excluded. A piece is valid until the next one is requested. */
  read (start: number, end: number): AsyncIterable<Buffer>
}

export interface ZipEntry {
  /** The path in the zip, with forward slashes. */
  name: string
  content: ZipContent
}

export interface Zip {
  /** The size in bytes. */
  size: number
  /** A value that differs for different bytes; valid in an `ETag` header. */
  etag: string
  /**
   * Streams the bytes from `start` to `end`, `end` excluded. Files are read on demand, and only the necessary parts.
   */
  read (start: number, end: number): Readable
}

/** An entry with its offsets in the zip. */
interface LocatedEntry extends ZipMember {
  content: ZipContent
  offset: number
  contentOffset: number
  /** End of the data descriptor, or of the content if there is no descriptor. */
  end: number
}

/**
 * Makes a path safe: an entry name never is an absolute path, and never leads out of the folder where a zip is
 * unpacked.
 */
export function toEntryName (path: string): string {
  const name = path.replaceAll('\\', '_').split('/').filter((part) => part !== '' && part !== '.' && part !== '..').join('/')
  return name.replace(/^([a-z]):/i, '$1_')
}

function locateEntries (entries: readonly ZipEntry[]): LocatedEntry[] {
  let offset = 0
  return entries.map(({ name, content }) => {
    const { size, modified, crc } = content
    const member: ZipMember = { name: Buffer.from(toEntryName(name)), size, modified, crc }
    const contentOffset = offset + localHeader(member).length
    const end = contentOffset + size + (crc === null ? dataDescriptor(member, 0).length : 0)
    const located = { ...member, content, offset, contentOffset, end }
    offset = end
    return located
  })
}

/** Returns the part of some bytes within a range, or null if there is none. The first byte has the offset `at`. */
function cut (bytes: Buffer, at: number, start: number, end: number): Buffer | null {
  const part = bytes.subarray(Math.max(0, start - at), Math.max(0, end - at))
  return part.length === 0 ? null : part
}

async function * readMember (member: LocatedEntry, start: number, end: number): AsyncIterable<Buffer> {
  const { content, offset, contentOffset, size } = member
  const header = cut(localHeader(member), offset, start, end)
  if (header !== null) yield header
  const first = Math.max(0, start - contentOffset)
  const last = Math.min(size, end - contentOffset)
  if (first < last) yield * content.read(first, last)
  const descriptorOffset = contentOffset + size
  if (member.end <= Math.max(start, descriptorOffset) || end <= descriptorOffset) return
  const descriptor = cut(dataDescriptor(member, await content.checksum()), descriptorOffset, start, end)
  if (descriptor !== null) yield descriptor
}

/** Fills buffers from pieces. Records and many files are short, so they are sent together. */
function gather (pieces: AsyncGenerator<Buffer, void>): ByteSource {
  let rest: Buffer = Buffer.alloc(0)
  return {
    async read (buffer) {
      let length = 0
      while (length < buffer.length) {
        if (rest.length === 0) {
          const { value } = await pieces.next()
          if (value === undefined) break
          rest = value
        }
        const copied = rest.copy(buffer, length)
        rest = rest.subarray(copied)
        length += copied
      }
      return length
    },
    close: async () => { await pieces.return() }
  }
}

/**
 * Plans a zip of stored entries. All offsets are known before any file is read, so the same entries give the same
 * bytes. Known checksums precede their content, so any program can unpack it while receiving. Unknown checksums follow
 * their content, so a download does not wait until every file was read once.
 */
export function createZip (entries: readonly ZipEntry[]): Zip {
  const members = locateEntries(entries)
  const directoryOffset = members.at(-1)?.end ?? 0
  const lineLengths = members.map((member) => centralHeader(member, 0, member.offset).length)
  const directorySize = lineLengths.reduce((sum, length) => sum + length, 0)
  const endOffset = directoryOffset + directorySize
  const ending = endRecords(members.length, directoryOffset, directorySize)

  async function * readDirectory (start: number, end: number): AsyncIterable<Buffer> {
    let next = directoryOffset
    for (const [index, member] of members.entries()) {
      const at = next
      next += lineLengths[index] ?? 0
      if (next <= start) continue
      if (at >= end) break
      const line = cut(centralHeader(member, await member.content.checksum(), member.offset), at, start, end)
      if (line !== null) yield line
    }
  }

  async function * readRange (start: number, end: number): AsyncGenerator<Buffer, void> {
    for (const member of members) {
      if (member.offset >= end) break
      if (member.end > start) yield * readMember(member, start, end)
    }
    yield * readDirectory(start, end)
    const rest = cut(ending, endOffset, start, end)
    if (rest !== null) yield rest
  }

  return {
    size: endOffset + ending.length,
    etag: `"${sha256(JSON.stringify(members.map(({ name, modified, crc, content }) => [
      name.toString(), content.fingerprint, modified.getTime(), crc
    ])))}"`,
    read: (start, end) => new ByteStream(gather(readRange(start, end)))
  }
}
