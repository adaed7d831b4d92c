import { type PatchRun, brokenPatch, xor } from './files.ts'

const N64_HEADER_BYTES = 57
const N64 = { cart: 0x3c, cartBytes: 3, checksum: 0x10, checksumBytes: 8 }
const PADDING_BYTES = 5

/** True if the header of the base matches the one in the patch. */
function isCartridge ({ patch, base }: PatchRun): boolean {
  patch.skip(1)
  const isSame = base.readAt(N64.cart, N64.cartBytes).equals(patch.bytes(N64.cartBytes))
  const hasChecksum = base.readAt(N64.checksum, N64.checksumBytes).equals(patch.bytes(N64.checksumBytes))
  patch.skip(PADDING_BYTES)
  return isSame && hasChecksum
}

/** Format: https://github.com/btimofeev/UniPatcher/wiki/APS-(N64) */
export function applyAps (patching: PatchRun): boolean {
  const { patch, base, output } = patching
  patch.seek(5)
  const isForN64 = patch.u8() === 1
  patch.seek(N64_HEADER_BYTES)
  const isValid = !isForN64 || isCartridge(patching)
  const size = patch.le(4)
  output.copyBase(base, size)
  while (patch.remaining > 0) {
    const offset = patch.le(4)
    const length = patch.u8()
    const value = length === 0 ? patch.u8() : 0
    const bytes = length === 0 ? Buffer.alloc(patch.u8(), value) : patch.bytes(length)
    if (offset + bytes.length > size) throw brokenPatch('it writes beyond the end of the file')
    output.writeAt(offset, bytes)
  }
  return isValid
}

const GBA_MAGIC_BYTES = 4
const BLOCK_BYTES = 64 * 1024
const POLYNOMIAL = 0x1021

/** Computes the checksum of X.25 without its last step. */
function crc16 (bytes: Uint8Array): number {
  let crc = 0xffff
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ POLYNOMIAL
    crc &= 0xffff
  }
  return crc
}

/** Format: https://github.com/btimofeev/UniPatcher/wiki/APS-(GBA) */
export function applyApsGba ({ patch, base, output }: PatchRun): boolean {
  patch.seek(GBA_MAGIC_BYTES)
  const [baseSize, size] = [patch.le(4), patch.le(4)]
  output.copyBase(base, size)
  let isValid = base.size === baseSize
  while (patch.remaining > 0) {
    const offset = patch.le(4)
    const [before, after] = [patch.le(2), patch.le(2)]
    if (offset > size) throw brokenPatch('it writes beyond the end of the file')
    const old = base.readAt(offset, BLOCK_BYTES)
    const padded = Buffer.concat([old, Buffer.alloc(BLOCK_BYTES - old.length)])
    const result = xor(padded, patch.bytes(BLOCK_BYTES))
    const isSame = crc16(padded) === before
    if (isSame && crc16(result) !== after) throw brokenPatch('its result does not have the checksum that it promises')
    isValid &&= isSame
    output.writeAt(offset, result.subarray(0, size - offset))
  }
  return isValid
}
