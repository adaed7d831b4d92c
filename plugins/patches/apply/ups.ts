import { checkResult, isBase, readChecksums } from './checks.ts'
import { type PatchRun, brokenPatch, xor } from './files.ts'

const MAGIC_BYTES = 4
const RUN_BYTES = 16 * 1024

/** Format: http://individual.utoronto.ca/dmeunier/ups-spec.pdf */
export function applyUps (patching: PatchRun): boolean {
  const { patch, base, output } = patching
  const checksums = readChecksums(patch)
  patch.seek(MAGIC_BYTES)
  const [baseSize, size] = [patch.vlv(), patch.vlv()]
  output.copyBase(base, size)
  /** Changes beyond the end of the result only serve to reverse the patch. */
  const end = Math.max(baseSize, size)
  let at = 0

  function change (mask: readonly number[]): void {
    const bytes = xor(base.readAt(at, mask.length), Uint8Array.from(mask))
    output.writeAt(at, bytes.subarray(0, Math.max(0, size - at)))
    at += mask.length
  }

  while (patch.remaining > 0) {
    at += patch.vlv()
    let run: number[] = []
    for (let byte = patch.u8(); byte !== 0; byte = patch.u8()) {
      run.push(byte)
      if (run.length < RUN_BYTES) continue
      change(run)
      run = []
    }
    change(run)
    if (at > end) throw brokenPatch('it changes bytes beyond the end')
    at++
  }
  const isValid = isBase(patching, baseSize, checksums.base)
  if (isValid) checkResult(output, size, checksums.result)
  return isValid
}
