import { type PatchReader, type PatchRun, Source, brokenPatch, requireNumber, xor } from './files.ts'

const HEADER_BYTES = 0x800
const NUMBER_BYTES_MAX = 6
const INVERTED = 0xff

/** A file that a patch changes. */
interface PatchedFile {
  baseMd5: string
  resultMd5: string
  baseSize: number
  size: number
  overflow: Overflow | null
  /** The position of its records. */
  records: number
}
interface Overflow { mode: string, start: number, length: number }

function readNumber (patch: PatchReader): number {
  const length = patch.u8()
  if (length === 0) return 0
  if (length > NUMBER_BYTES_MAX) throw brokenPatch('it contains a number that is too large')
  return requireNumber(patch.le(length))
}

function readFile (patch: PatchReader): PatchedFile {
  patch.skip(readNumber(patch))
  patch.skip(1)
  const [baseSize, size] = [readNumber(patch), readNumber(patch)]
  const [baseMd5, resultMd5] = [patch.bytes(16).toString('hex'), patch.bytes(16).toString('hex')]
  let overflow: Overflow | null = null
  if (baseSize !== size) {
    const mode = patch.bytes(1).toString('latin1')
    const length = readNumber(patch)
    overflow = { mode, start: patch.position, length }
    patch.skip(length)
  }
  return { baseMd5, resultMd5, baseSize, size, overflow, records: patch.position }
}

/** Reads the records after the reader's position. @returns true if another file follows */
function readRecords (patch: PatchReader, see: (offset: number, length: number) => void): boolean {
  for (;;) {
    const command = patch.remaining === 0 ? 0 : patch.u8()
    if (command === 0) return false
    if (command === 1) return true
    if (command !== 2) throw brokenPatch('it contains an unknown command')
    see(readNumber(patch), readNumber(patch))
  }
}

function listFiles (patch: PatchReader): PatchedFile[] {
  patch.seek(HEADER_BYTES)
  const files: PatchedFile[] = []
  for (let hasMore = readRecords(patch, () => { throw brokenPatch('it contains no file') }); hasMore;) {
    files.push(readFile(patch))
    hasMore = readRecords(patch, (_offset, length) => { patch.skip(length) })
  }
  return files
}

/** Format, version 2: http://www.romhacking.net/documents/288/ */
export function applyRup ({ patch, base, output }: PatchRun): boolean {
  const files = listFiles(patch)
  const md5 = base.md5()
  const matching = files.find((file) => file.baseMd5 === md5)
  const file = matching ?? files[0]
  if (file === undefined) throw brokenPatch('it contains no file')
  output.copyBase(base, file.size)
  if (file.overflow?.mode === 'A') {
    patch.seek(file.overflow.start)
    let at = file.baseSize
    for (const piece of patch.pieces(file.overflow.length)) {
      output.writeAt(at, xor(piece, Buffer.alloc(piece.length, INVERTED)))
      at += piece.length
    }
  }
  patch.seek(file.records)
  readRecords(patch, (offset, length) => {
    let at = offset
    for (const piece of patch.pieces(length)) {
      output.writeAt(at, xor(base.readAt(at, piece.length), piece))
      at += piece.length
    }
  })
  output.truncate(file.size)
  if (matching !== undefined && new Source(output.fd, file.size).md5() !== file.resultMd5) {
    throw brokenPatch('its result does not have the checksum that it promises')
  }
  return matching !== undefined
}
