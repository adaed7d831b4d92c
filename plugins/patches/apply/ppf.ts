import { type PatchReader, type PatchRun, type Source, brokenPatch, requireNumber } from './files.ts'

const HEADER_BYTES = 56
const BLOCK_BYTES = 1024
/** The positions of the compared block in an image of a CD, and in one of PrimoDVD. */
const BLOCK_PLACES = { bin: 0x9320, gi: 0x80a0 }
const NOTE_MARKS_BYTES = '@BEGIN_FILE_ID.DIZ@END_FILE_ID.DIZ'.length

/** Skips the note that may follow the records. @param width the number of bytes of its length */
function endBeforeNote (patch: PatchReader, width: 2 | 4): void {
  const tail = patch.source.readAt(patch.source.size - width - 4, width + 4)
  if (tail.toString('latin1', 0, 4) !== '.DIZ') return
  patch.endAt(patch.source.size - width - NOTE_MARKS_BYTES - tail.readUIntLE(4, width))
}

function hasBlock (base: Source, offset: number, block: Buffer): boolean {
  return base.readAt(offset, BLOCK_BYTES).equals(block)
}

/** Reads the header up to the first record. @returns whether the base matches the header, and records have undo data */
function readHeader ({ patch, base }: PatchRun, version: number): { isValid: boolean, hasUndo: boolean } {
  patch.seek(HEADER_BYTES)
  if (version === 1) return { isValid: true, hasUndo: false }
  if (version === 2) {
    const size = patch.le(4)
    const isValid = hasBlock(base, BLOCK_PLACES.bin, patch.bytes(BLOCK_BYTES)) && base.size === size
    endBeforeNote(patch, 4)
    return { isValid, hasUndo: false }
  }
  const [image, isChecked, undo] = [patch.u8(), patch.u8(), patch.u8()]
  patch.skip(1)
  const offset = image === 1 ? BLOCK_PLACES.gi : BLOCK_PLACES.bin
  const isValid = isChecked === 0 || hasBlock(base, offset, patch.bytes(BLOCK_BYTES))
  endBeforeNote(patch, 2)
  return { isValid, hasUndo: undo !== 0 }
}

/** Format, versions 1 to 3: https://github.com/meunierd/ppf/blob/master/ppfdev/PPF3.txt */
export function applyPpf (patching: PatchRun): boolean {
  const { patch, base, output } = patching
  patch.seek(3)
  const version = Number(patch.bytes(1).toString('latin1'))
  if (![1, 2, 3].includes(version)) throw brokenPatch('its version of PPF is not supported')
  const { isValid, hasUndo } = readHeader(patching, version)
  output.copyBase(base)
  while (patch.remaining > 0) {
    const low = patch.le(4)
    const offset = version === 3 ? requireNumber(low + patch.le(4) * 2 ** 32) : low
    const length = patch.u8()
    output.writeAt(offset, patch.bytes(length))
    if (hasUndo) patch.skip(length)
  }
  return isValid
}
