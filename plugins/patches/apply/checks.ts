import { type Output, type PatchReader, type PatchRun, Source, brokenPatch } from './files.ts'

/** The size of the checksums of base, result and patch, which BPS and UPS write at the end. */
const FOOTER_BYTES = 12

export interface Checksums { base: number, result: number }

/** Reads the checksums; the reader ends before them. @throws PatchError if the patch is damaged */
export function readChecksums (patch: PatchReader): Checksums {
  const { source } = patch
  const start = source.size - FOOTER_BYTES
  patch.endAt(start)
  const footer = source.readAt(start, FOOTER_BYTES)
  if (source.crc32(source.size - 4) !== footer.readUInt32LE(8)) throw brokenPatch('its own checksum is wrong')
  return { base: footer.readUInt32LE(0), result: footer.readUInt32LE(4) }
}

/** True if the base has the size and checksum that the patch names. */
export const isBase = ({ base }: PatchRun, size: number, crc: number): boolean =>
  base.size === size && base.crc32() === crc

/** Checks the result of the right base. @throws PatchError if it differs from what the patch promises */
export function checkResult (output: Output, size: number, crc: number): void {
  if (new Source(output.fd, size).crc32() !== crc) throw brokenPatch('its result does not have the checksum that it promises')
}
