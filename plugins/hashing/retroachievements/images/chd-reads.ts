// Format: https://github.com/mamedev/mame/blob/master/src/lib/util/chd.h
import { inflateRawSync, zstdDecompressSync } from 'node:zlib'
import { ArchiveError } from '../../../../core/archives/limits.ts'
import { CHD_HEADER_BYTES, parseChdHeader } from '../../chd-header.ts'
import { COPY, readMap, STORED, type HunkMap } from './chd-map.ts'
import { unpackLzma } from './lzma.ts'
import { type FileReads, readExactlyAt } from './file-reads.ts'
import { RAW_BYTES, SYNC } from './tracks.ts'

const METADATA_HEADER_BYTES = 16
/** The most metadata entries: one for each track and some more. */
const MAX_METADATA = 1000
const MAX_METADATA_BYTES = 64 * 1024
/** The largest hunk; chdman uses at most 1 MiB. */
const MAX_HUNK_BYTES = 16 * 1024 ** 2
const FRAME_BYTES = 2448

/** An open CHD of version 5. */
export interface Chd {
  readonly size: number
  readonly unitBytes: number
  readonly metadata: readonly { tag: string, text: string }[]
  /** Reads up to `length` bytes of the content; fewer only at the end. */
  read (position: number, length: number): Buffer
}

type Unpack = (packed: Uint8Array, size: number) => Buffer

const unpackZlib: Unpack = (packed, size) => inflateRawSync(packed, { maxOutputLength: size })
const unpackZstd: Unpack = (packed, size) => zstdDecompressSync(packed, { maxOutputLength: size })
/**
 * The supported codecs. Those for audio and text are missing, because no known image stores boot programs with them.
 */
const CODECS: Record<string, Unpack> = {
  zlib: unpackZlib,
  zstd: unpackZstd,
  lzma: unpackLzma,
  cdzl: unpackFrames(unpackZlib),
  cdzs: unpackFrames(unpackZstd),
  cdlz: unpackFrames(unpackLzma)
}

/** Opens a CHD file of version 5. @throws ArchiveError */
export function openChdFile (file: FileReads): Chd {
  const header = parseChdHeader(file.read(0, CHD_HEADER_BYTES))
  if (header === null) throw new ArchiveError('it is not a CHD of version 5')
  if (header.hasParent) throw new ArchiveError('it is a CHD that needs another one')
  const { logicalBytes: size, hunkBytes, codecs, isCompressed, mapOffset: offset } = header
  if (hunkBytes === 0 || hunkBytes > MAX_HUNK_BYTES) throw new ArchiveError(`a hunk of it has ${hunkBytes} bytes`)
  const map = readMap(file, { offset, hunks: Math.ceil(size / hunkBytes), hunkBytes, isCompressed })
  return {
    size,
    unitBytes: header.unitBytes,
    metadata: readMetadata(file, header.metadataOffset),
    read: createRead(size, hunkBytes, createHunkReader(file, { map, codecs, hunkBytes }))
  }
}

function readMetadata (file: FileReads, first: number): Chd['metadata'] {
  const metadata: { tag: string, text: string }[] = []
  for (let at = first; at !== 0 && metadata.length < MAX_METADATA;) {
    const header = readExactlyAt(file, at, METADATA_HEADER_BYTES)
    const length = Math.min(header.readUIntBE(5, 3), MAX_METADATA_BYTES)
    const text = readExactlyAt(file, at + METADATA_HEADER_BYTES, length).toString('latin1').replace(/\0.*$/s, '')
    metadata.push({ tag: header.toString('latin1', 0, 4), text })
    at = Number(header.readBigUInt64BE(8))
  }
  return metadata
}

/** The hunks of a CHD: where each lies, the codecs that pack them, and their unpacked size. */
interface Hunks { map: HunkMap, codecs: readonly string[], hunkBytes: number }

function createHunkReader (file: FileReads, hunks: Hunks) {
  const { map } = hunks
  let cached: { hunk: number, bytes: Buffer } | null = null
  return (wanted: number): Buffer => {
    // The loop ends, because a copy refers to a hunk before it.
    let hunk = wanted
    while (map.kinds[hunk] === COPY) {
      const original = map.offsets[hunk] ?? 0
      if (original >= hunk) throw new ArchiveError('the map of the CHD is broken')
      hunk = original
    }
    if (cached?.hunk !== hunk) cached = { hunk, bytes: unpackHunk(file, hunks, hunk) }
    return cached.bytes
  }
}

function unpackHunk (file: FileReads, { map, codecs, hunkBytes }: Hunks, hunk: number): Buffer {
  const kind = map.kinds[hunk]
  const packed = readExactlyAt(file, map.offsets[hunk] ?? 0, map.lengths[hunk] ?? 0)
  if (kind === STORED) return packed
  const codec = kind === undefined ? undefined : codecs[kind]
  const unpack = codec === undefined ? undefined : CODECS[codec]
  if (unpack === undefined) throw new ArchiveError(`it is compressed with '${codec ?? 'another file'}', which is not supported`)
  const bytes = unpack(packed, hunkBytes)
  if (bytes.length !== hunkBytes) throw new ArchiveError('the packed data is broken')
  return bytes
}

function createRead (size: number, hunkBytes: number, readHunk: (hunk: number) => Buffer): Chd['read'] {
  return (position, length) => {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - position)))
    for (let filled = 0; filled < bytes.length;) {
      const at = position + filled
      const part = readHunk(Math.floor(at / hunkBytes)).subarray(at % hunkBytes, at % hunkBytes + bytes.length - filled)
      bytes.set(part, filled)
      filled += part.length
    }
    return bytes
  }
}

/**
 * Unpacks frames of a disc: the content of all of them, then their subcode, which is skipped. Frames whose sync bytes
 * and error correction follow from the rest are flagged; the sync bytes are restored.
 */
function unpackFrames (unpack: Unpack): Unpack {
  return (packed, size) => {
    const frames = Math.floor(size / FRAME_BYTES)
    const flagBytes = Math.ceil(frames / 8)
    const lengthBytes = size < 65536 ? 2 : 3
    if (packed.length < flagBytes + lengthBytes) throw new ArchiveError('the packed data is broken')
    const length = Buffer.from(packed).readUIntBE(flagBytes, lengthBytes)
    const start = flagBytes + lengthBytes
    const content = unpack(packed.subarray(start, start + length), frames * RAW_BYTES)
    const bytes = Buffer.alloc(size)
    for (let frame = 0; frame < frames; frame++) {
      content.copy(bytes, frame * FRAME_BYTES, frame * RAW_BYTES, (frame + 1) * RAW_BYTES)
      if (((packed[frame >> 3] ?? 0) >> (frame & 7)) & 1) SYNC.copy(bytes, frame * FRAME_BYTES)
    }
    return bytes
  }
}
