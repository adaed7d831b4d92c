// Header layout: https://github.com/mamedev/mame/blob/master/src/lib/util/chd.h
const MAGIC = 'MComprHD'
const VERSION = 5
export const CHD_HEADER_BYTES = 124

/** The header of a CHD of version 5. */
export interface ChdHeader {
  /** The names of four codecs; that of an unused one consists of zeros. */
  codecs: string[]
  isCompressed: boolean
  /** The size of the content in bytes; for a CD with 96 bytes for the subchannels of each sector. */
  logicalBytes: number
  mapOffset: number
  /** The offset of the first metadata entry; 0 if there is none. */
  metadataOffset: number
  hunkBytes: number
  /** The bytes of a sector. */
  unitBytes: number
  /** The SHA-1 of the content, without its metadata. */
  dataSha1: string
  /** The SHA-1 of the content and its metadata. */
  sha1: string
  /** True if the CHD only holds the differences from another one. */
  hasParent: boolean
}

/** Parses the first bytes of a file; null for any file but a CHD of version 5. */
export function parseChdHeader (bytes: Buffer): ChdHeader | null {
  if (bytes.length < CHD_HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null
  if (bytes.readUInt32BE(8) !== CHD_HEADER_BYTES || bytes.readUInt32BE(12) !== VERSION) return null
  return {
    codecs: [16, 20, 24, 28].map((at) => bytes.toString('latin1', at, at + 4)),
    isCompressed: bytes.readUInt32BE(16) !== 0,
    logicalBytes: Number(bytes.readBigUInt64BE(32)),
    mapOffset: Number(bytes.readBigUInt64BE(40)),
    metadataOffset: Number(bytes.readBigUInt64BE(48)),
    hunkBytes: bytes.readUInt32BE(56),
    unitBytes: bytes.readUInt32BE(60),
    dataSha1: bytes.toString('hex', 64, 84),
    sha1: bytes.toString('hex', 84, 104),
    hasParent: bytes.subarray(104, CHD_HEADER_BYTES).some((byte) => byte !== 0)
  }
}
