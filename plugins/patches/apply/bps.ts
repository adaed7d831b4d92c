import { checkResult, isBase, readChecksums } from './checks.ts'
import { type PatchReader, type PatchRun, brokenPatch, wrongBase } from './files.ts'

const MAGIC_BYTES = 4
const ACTIONS = 4

/** Reads a step forwards or back. */
function readStep (patch: PatchReader): number {
  const value = patch.vlv()
  return (value % 2 === 1 ? -1 : 1) * Math.floor(value / 2)
}

/** Format: https://github.com/blakesmith/rombp/blob/master/docs/bps_spec.md */
export function applyBps (patching: PatchRun): boolean {
  const { patch, base, output } = patching
  const checksums = readChecksums(patch)
  patch.seek(MAGIC_BYTES)
  const [baseSize, size] = [patch.vlv(), patch.vlv()]
  patch.skip(patch.vlv())
  output.requireSize(size)
  let [baseAt, resultAt] = [0, 0]
  while (patch.remaining > 0) {
    const word = patch.vlv()
    const length = Math.floor(word / ACTIONS) + 1
    if (output.length + length > size) throw brokenPatch('its result is longer than it promises')
    const readBase = (start: number) => {
      if (start < 0 || start + length > base.size) throw wrongBase('the patch reads beyond the end of the file')
      for (const piece of base.pieces(start, start + length)) output.append(piece)
    }
    switch (word % ACTIONS) {
      case 0:
        readBase(output.length)
        break
      case 1:
        for (const piece of patch.pieces(length)) output.append(piece)
        break
      case 2:
        baseAt += readStep(patch)
        readBase(baseAt)
        baseAt += length
        break
      default:
        resultAt += readStep(patch)
        if (resultAt < 0 || resultAt >= output.length) throw brokenPatch('it copies bytes that are not written yet')
        output.repeat(resultAt, length)
        resultAt += length
    }
  }
  output.flush()
  if (output.length !== size) throw brokenPatch('its result is shorter than it promises')
  const isValid = isBase(patching, baseSize, checksums.base)
  if (isValid) checkResult(output, size, checksums.result)
  return isValid
}
