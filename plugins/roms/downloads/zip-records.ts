/**
 * The records of a zip of stored entries, by the format's specification:
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, sections 4.3 to 4.5.
 */
export interface ZipMember {
  /** The name in UTF-8. */
  name: Buffer
  size: number
  modified: Date
  /** Null if the checksum follows the content, in a separate data descriptor. */
  crc: number | null
}

/** Placeholder in a field of 32 or 16 bits for a value that is in a Zip64 record. */
const IN_ZIP64 = 0xffffffff
const COUNT_IN_ZIP64 = 0xffff
const VERSION = 20
const ZIP64_VERSION = 45
const MADE_ON_UNIX = 3 << 8
/** Unix mode of a regular file: its owner may write, everybody may read. */
const FILE_MODE = 0o100644
const UTF8_NAME = 1 << 11
const CRC_FOLLOWS = 1 << 3

type Field = readonly [bytes: 2 | 4 | 8, value: number]

/** Writes little-endian numbers one after the other. */
function pack (fields: readonly Field[], ...rest: readonly Buffer[]): Buffer {
  const record = Buffer.alloc(fields.reduce((length, [bytes]) => length + bytes, 0))
  let at = 0
  for (const [bytes, value] of fields) {
    at = bytes === 8 ? record.writeBigUInt64LE(BigInt(value), at) : record.writeUIntLE(value, at, bytes)
  }
  return Buffer.concat([record, ...rest])
}

/** Returns DOS time and date in UTC, so the same file gives the same bytes in every time zone of a server. */
function dosTime (time: Date): [Field, Field] {
  const year = time.getUTCFullYear()
  if (year < 1980) return [[2, 0], [2, 1 << 5 | 1]]
  if (year > 2107) return [[2, 23 << 11 | 59 << 5 | 29], [2, 127 << 9 | 12 << 5 | 31]]
  return [
    [2, time.getUTCHours() << 11 | time.getUTCMinutes() << 5 | time.getUTCSeconds() >> 1],
    [2, (year - 1980) << 9 | (time.getUTCMonth() + 1) << 5 | time.getUTCDate()]
  ]
}

const isLarge = (value: number) => value >= IN_ZIP64

/** Returns the Zip64 extra field with the values that exceed their 32-bit fields. */
function zip64Extra (values: readonly number[]): Buffer {
  if (values.length === 0) return Buffer.alloc(0)
  return pack([[2, 1], [2, values.length * 8], ...values.map((value): Field => [8, value])])
}

const flagsOf = ({ crc }: ZipMember) => crc === null ? UTF8_NAME | CRC_FOLLOWS : UTF8_NAME

/** Returns the local header, which precedes the content. */
export function localHeader (member: ZipMember): Buffer {
  const { name, size, modified, crc } = member
  const announced = crc === null ? 0 : size
  const short = isLarge(size) ? IN_ZIP64 : announced
  const extra = zip64Extra(isLarge(size) ? [announced, announced] : [])
  return pack([
    [4, 0x04034b50], [2, isLarge(size) ? ZIP64_VERSION : VERSION], [2, flagsOf(member)], [2, 0], ...dosTime(modified),
    [4, crc ?? 0], [4, short], [4, short], [2, name.length], [2, extra.length]
  ], name, extra)
}

/** Returns the data descriptor, which follows the content if the checksum was not known before the content. */
export function dataDescriptor ({ size }: ZipMember, crc: number): Buffer {
  const bytes = isLarge(size) ? 8 : 4
  return pack([[4, 0x08074b50], [4, crc], [bytes, size], [bytes, size]])
}

/** Returns a member's header in the central directory. */
export function centralHeader (member: ZipMember, crc: number, offset: number): Buffer {
  const { name, size, modified } = member
  const extra = zip64Extra([...(isLarge(size) ? [size, size] : []), ...(isLarge(offset) ? [offset] : [])])
  const version = extra.length > 0 ? ZIP64_VERSION : VERSION
  const short = Math.min(size, IN_ZIP64)
  return pack([
    [4, 0x02014b50], [2, MADE_ON_UNIX | version], [2, version], [2, flagsOf(member)], [2, 0], ...dosTime(modified),
    [4, crc], [4, short], [4, short], [2, name.length], [2, extra.length], [2, 0], [2, 0], [2, 0],
    [4, FILE_MODE * 0x10000], [4, Math.min(offset, IN_ZIP64)]
  ], name, extra)
}

/** Returns the end of the zip: the number of members, and the offset and size of the central directory. */
export function endRecords (count: number, centralOffset: number, centralSize: number): Buffer {
  const end = pack([
    [4, 0x06054b50], [2, 0], [2, 0], [2, Math.min(count, COUNT_IN_ZIP64)], [2, Math.min(count, COUNT_IN_ZIP64)],
    [4, Math.min(centralSize, IN_ZIP64)], [4, Math.min(centralOffset, IN_ZIP64)], [2, 0]
  ])
  if (count < COUNT_IN_ZIP64 && !isLarge(centralSize) && !isLarge(centralOffset)) return end
  const zip64End = pack([
    [4, 0x06064b50], [8, 44], [2, MADE_ON_UNIX | ZIP64_VERSION], [2, ZIP64_VERSION], [4, 0], [4, 0],
    [8, count], [8, count], [8, centralSize], [8, centralOffset]
  ])
  const locator = pack([[4, 0x07064b50], [4, 0], [8, centralOffset + centralSize], [4, 1]])
  return Buffer.concat([zip64End, locator, end])
}
