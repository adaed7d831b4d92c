// Formats: https://github.com/unknownbrackets/maxcso/blob/master/README_CSO.md and README_ZSO.md; DAX as PSP tools read it
import { inflateRawSync, inflateSync } from 'node:zlib'
import { ArchiveError } from '../../../../core/archives/limits.ts'
import type { FileReads } from './file-reads.ts'
import { unpackLz4 } from './lz4.ts'

/** The positions of the blocks of an image, and the way to unpack one. */
interface Blocks {
  readonly size: number
  readonly blockBytes: number
  /** Returns the position and size of a block in the file. */
  locate (block: number): { position: number, length: number, isPacked: boolean }
  unpack (packed: Buffer): Buffer
}

const DAX_BLOCK_BYTES = 8192
/** The largest block; 2 KiB are usual. */
const MAX_BLOCK_BYTES = 1024 ** 2
/** The most blocks; a PSP disc holds 1.8 GB. */
const MAX_BLOCKS = 2 ** 22
const PLAIN_BIT = 0x80000000
const INDEX_BITS = 0x7fffffff

/** Opens the image in a .cso, .zso or .dax. @throws ArchiveError */
export function openCompressedIso (file: FileReads): FileReads {
  const blocks = readBlocks(file)
  let cached: { block: number, bytes: Buffer } | null = null
  const readBlock = (block: number) => {
    if (cached?.block !== block) cached = { block, bytes: unpackBlock(file, blocks, block) }
    return cached.bytes
  }
  return {
    size: blocks.size,
    read (position, length) {
      const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, blocks.size - position)))
      for (let filled = 0; filled < bytes.length;) {
        const start = (position + filled) % blocks.blockBytes
        const part = readBlock(Math.floor((position + filled) / blocks.blockBytes))
          .subarray(start, start + bytes.length - filled)
        if (part.length === 0) throw new ArchiveError('the packed data is broken')
        bytes.set(part, filled)
        filled += part.length
      }
      return bytes
    }
  }
}

function unpackBlock (file: FileReads, blocks: Blocks, block: number): Buffer {
  const { position, length, isPacked } = blocks.locate(block)
  if (length < 0 || length > 2 * blocks.blockBytes) throw new ArchiveError('the index of the image is broken')
  const packed = file.read(position, length)
  return isPacked ? blocks.unpack(packed) : packed
}

function readBlocks (file: FileReads): Blocks {
  const header = file.read(0, 32)
  if (header.length < 32) throw new ArchiveError('it ends too early')
  const magic = header.toString('latin1', 0, 4)
  if (magic === 'CISO') return readCiso(file, header, (packed, size) => inflateRawSync(packed, { maxOutputLength: size }))
  if (magic === 'ZISO') return readCiso(file, header, unpackLz4)
  if (magic === 'DAX\0') return readDax(file, header)
  throw new ArchiveError('it is not a compressed disc image')
}

function readIndex (file: FileReads, position: number, count: number, bytes: number): Buffer {
  if (count > MAX_BLOCKS) throw new ArchiveError(`more than ${MAX_BLOCKS} blocks`)
  const index = file.read(position, count * bytes)
  if (index.length < count * bytes) throw new ArchiveError('it ends too early')
  return index
}

function readCiso (file: FileReads, header: Buffer, unpack: (packed: Buffer, size: number) => Buffer): Blocks {
  const size = Number(header.readBigUInt64LE(8))
  const blockBytes = header.readUInt32LE(16)
  const [version = 0, shift = 0] = header.subarray(20, 22)
  if (version > 1) throw new ArchiveError(`version ${version} of the format cannot be read`)
  if (blockBytes === 0 || blockBytes > MAX_BLOCK_BYTES) throw new ArchiveError(`a block of it has ${blockBytes} bytes`)
  const index = readIndex(file, 24, Math.ceil(size / blockBytes) + 1, 4)
  const positionOf = (block: number) => (index.readUInt32LE(block * 4) & INDEX_BITS) * 2 ** shift
  return {
    size,
    blockBytes,
    locate (block) {
      const position = positionOf(block)
      const isPacked = (index.readUInt32LE(block * 4) & PLAIN_BIT) === 0
      return { position, length: isPacked ? positionOf(block + 1) - position : blockBytes, isPacked }
    },
    unpack: (packed) => unpack(packed, blockBytes)
  }
}

function readDax (file: FileReads, header: Buffer): Blocks {
  const size = header.readUInt32LE(4)
  const count = Math.ceil(size / DAX_BLOCK_BYTES)
  const plainAreas = header.readUInt32LE(8) >= 1 ? header.readUInt32LE(12) : 0
  const positions = readIndex(file, 32, count, 4)
  const lengths = readIndex(file, 32 + count * 4, count, 2)
  const plain = readIndex(file, 32 + count * 6, plainAreas, 8)
  const isPlain = (block: number) => Array.from({ length: plainAreas }, (_none, area) => area * 8).some((at) =>
    block >= plain.readUInt32LE(at) && block < plain.readUInt32LE(at) + plain.readUInt32LE(at + 4))
  return {
    size,
    blockBytes: DAX_BLOCK_BYTES,
    locate (block) {
      const isPacked = !isPlain(block)
      const length = isPacked ? lengths.readUInt16LE(block * 2) : DAX_BLOCK_BYTES
      return { position: positions.readUInt32LE(block * 4), length, isPacked }
    },
    unpack: (packed) => inflateSync(packed, { maxOutputLength: DAX_BLOCK_BYTES })
  }
}
