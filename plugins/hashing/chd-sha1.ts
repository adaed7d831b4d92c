// Header layout: https://github.com/mamedev/mame/blob/master/src/lib/util/chd.h
import { readUpTo, type Source } from '../../core/archives/source.ts'

const MAGIC = 'MComprHD'
const HEADER_BYTES = 124
const VERSION = 5
const LENGTH_OFFSET = 8
const VERSION_OFFSET = 12
const SHA1_OFFSET = 84
const SHA1_BYTES = 20

/** Reads the SHA-1 that a CHD version 5 stores of its content and metadata; null for any other file. */
export function readChdSha1 (source: Source): string | null {
  if (source.size < HEADER_BYTES) return null
  const header = readUpTo(source, 0, HEADER_BYTES)
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC) return null
  if (header.readUInt32BE(LENGTH_OFFSET) !== HEADER_BYTES) return null
  if (header.readUInt32BE(VERSION_OFFSET) !== VERSION) return null
  return header.toString('hex', SHA1_OFFSET, SHA1_OFFSET + SHA1_BYTES)
}
