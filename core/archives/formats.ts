import type { Archive } from './archive.ts'
import { openWithLibarchive } from './libarchive.ts'
import { ArchiveError, type Budget } from './limits.ts'
import { readUpTo, type Source } from './source.ts'
import { openTar } from './tar.ts'
import { readAll, unpack, type Compression } from './unpack.ts'
import { openZip, UnusualZipError } from './zip.ts'

export type OpenArchive = (source: Source, budget: Budget) => Archive | Promise<Archive>

/** The format of a file by its name: an archive, one compressed file, or a plain file. */
export type Format =
  | { kind: 'archive', open: OpenArchive }
  | { kind: 'compressed', compression: Compression }
  | { kind: 'plain' }

const SIGNATURES: { bytes: Buffer, open: OpenArchive }[] = [
  { bytes: Buffer.from('PK\x03\x04', 'latin1'), open: openAnyZip },
  { bytes: Buffer.from('PK\x05\x06', 'latin1'), open: openZip },
  { bytes: Buffer.from('7z\xbc\xaf\x27\x1c', 'latin1'), open: openWithLibarchive },
  { bytes: Buffer.from('Rar!\x1a\x07', 'latin1'), open: openWithLibarchive }
]
const SIGNATURE_BYTES = 6

const FORMATS: { endings: string[], format: Format }[] = [
  { endings: ['.zip', '.7z', '.rar'], format: { kind: 'archive', open: openBySignature } },
  { endings: ['.tar'], format: { kind: 'archive', open: openPlainTar } },
  { endings: ['.tar.gz', '.tgz'], format: { kind: 'archive', open: openCompressedTar('gz') } },
  { endings: ['.tar.bz2', '.tbz2'], format: { kind: 'archive', open: openCompressedTar('bz2') } },
  { endings: ['.tar.xz', '.txz'], format: { kind: 'archive', open: openCompressedTar('xz') } },
  { endings: ['.gz'], format: { kind: 'compressed', compression: 'gz' } },
  { endings: ['.bz2'], format: { kind: 'compressed', compression: 'bz2' } },
  { endings: ['.xz'], format: { kind: 'compressed', compression: 'xz' } }
]

export function formatOf (path: string | Uint8Array): Format {
  const ending = Buffer.from(path.slice(-8)).toString('latin1').toLowerCase()
  return FORMATS.find(({ endings }) => endings.some((one) => ending.endsWith(one)))?.format ?? { kind: 'plain' }
}

/** Opens an archive by its first bytes, because zip, 7z and rar files are often renamed into each other. */
function openBySignature (source: Source, budget: Budget): Archive | Promise<Archive> {
  const start = readUpTo(source, 0, SIGNATURE_BYTES)
  const found = SIGNATURES.find(({ bytes }) => start.subarray(0, bytes.length).equals(bytes))
  if (!found) throw new ArchiveError('it is not a zip, 7z or rar archive')
  return found.open(source, budget)
}

async function openAnyZip (source: Source, budget: Budget): Promise<Archive> {
  try {
    return await openZip(source, budget)
  } catch (error) {
    if (error instanceof UnusualZipError) return openWithLibarchive(source, budget)
    throw error
  }
}

function openPlainTar (source: Source, budget: Budget): Archive {
  return openTar(() => readAll(source, budget), budget)
}

function openCompressedTar (compression: Compression): OpenArchive {
  return (source, budget) => openTar(() => unpack(compression, source, budget), budget)
}
