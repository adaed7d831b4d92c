import { crc32 } from 'node:zlib'
import type { Content } from './library.ts'

/** The parts of https://py7zr.readthedocs.io/en/latest/archive_format.html that an archive of stored files needs. */
const SIGNATURE = Buffer.from('377abcaf271c0004', 'hex')
const [END, HEADER, STREAMS, FILES, PACK, UNPACK, SUBSTREAMS, SIZE, CRC, FOLDER, UNPACK_SIZE, STREAM_COUNT, NAMES] =
  [0, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 17]
const ALL_DEFINED = 1
const STORED_CODER = [1, 1, 0]

/** Encodes a number in as few bytes as possible. The first byte tells how many follow. */
function number (value: number): number[] {
  if (value < 0x80) return [value]
  if (value < 0x4000) return [0x80 | value >> 8, value & 0xff]
  if (value < 0x200000) return [0xc0 | value >> 16, value & 0xff, value >> 8 & 0xff]
  throw new RangeError(`${value} is too large for what is written here`)
}

function crc (bytes: Uint8Array): Buffer {
  const field = Buffer.alloc(4)
  field.writeUInt32LE(crc32(bytes))
  return field
}

function makeHeader (members: readonly Content[], size: number): Buffer {
  const names = Buffer.from(members.map(({ name }) => `${name}\0`).join(''), 'utf16le')
  return Buffer.from([
    HEADER, STREAMS, PACK, 0, 1, SIZE, ...number(size), END,
    UNPACK, FOLDER, 1, 0, ...STORED_CODER, UNPACK_SIZE, ...number(size), END,
    SUBSTREAMS, STREAM_COUNT, ...number(members.length), SIZE,
    ...members.slice(0, -1).flatMap(({ bytes }) => number(bytes.length)),
    CRC, ALL_DEFINED, ...members.flatMap(({ bytes }) => [...crc(bytes)]), END, END,
    FILES, ...number(members.length), NAMES, ...number(names.length + 1), 0, ...names, END, END
  ])
}

/** Packs files uncompressed into a .7z. Readers do the same work as for others, except decompression. */
export function pack7z (members: readonly Content[]): Buffer {
  const packed = Buffer.concat(members.map(({ bytes }) => bytes))
  const header = makeHeader(members, packed.length)
  const start = Buffer.alloc(20)
  start.writeBigUInt64LE(BigInt(packed.length), 0)
  start.writeBigUInt64LE(BigInt(header.length), 8)
  crc(header).copy(start, 16)
  return Buffer.concat([SIGNATURE, crc(start), start, packed, header])
}
