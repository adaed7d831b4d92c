import type { PatchRun } from './files.ts'

const MAGIC_BYTES = 4

/** Applies a patch of Star Rod: a number of pieces, each with its position and length, big-endian. */
export function applyPmsr ({ patch, base, output }: PatchRun): boolean {
  patch.seek(MAGIC_BYTES)
  output.copyBase(base)
  for (let left = patch.be(4); left > 0; left--) {
    let at = patch.be(4)
    for (const piece of patch.pieces(patch.be(4))) {
      output.writeAt(at, piece)
      at += piece.length
    }
  }
  return true
}
