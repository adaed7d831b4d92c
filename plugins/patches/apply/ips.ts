import type { PatchRun } from './files.ts'

const MAGIC_BYTES = 5

/** Format: http://fileformats.archiveteam.org/wiki/IPS_(binary_patch_format) */
function applyRecords ({ patch, base, output }: PatchRun, width: 3 | 4, end: string): boolean {
  output.copyBase(base)
  patch.seek(MAGIC_BYTES)
  for (;;) {
    const mark = patch.bytes(end.length)
    // The end mark is also a valid position: it ends the patch only if nothing, or the size of the result, follows.
    if (mark.toString('latin1') === end && (patch.remaining === 0 || patch.remaining === width)) break
    patch.skip(width - end.length)
    const offset = mark.readUIntBE(0, width)
    const length = patch.be(2)
    if (length > 0) output.writeAt(offset, patch.bytes(length))
    else output.writeAt(offset, Buffer.alloc(patch.be(2), patch.u8()))
  }
  if (patch.remaining === width) output.truncate(patch.be(width))
  return true
}

export const applyIps = (patching: PatchRun): boolean => applyRecords(patching, 3, 'EOF')
export const applyIps32 = (patching: PatchRun): boolean => applyRecords(patching, 4, 'EEOF')
