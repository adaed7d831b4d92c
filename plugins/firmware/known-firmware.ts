import type { Hashes } from '../../core/archives/types.ts'
import facts from './data/known-firmware.json' with { type: 'json' }

interface KnownFirmware { platform: string, file_name: string, size: number, md5: string, sha1: string, crc: string }

const KNOWN = new Map((facts as KnownFirmware[]).map((file) => [`${file.platform}/${file.file_name}`, file]))

/** True if a file is a known good dump: of the expected size under its name, and equal in at least one hash. */
export function isKnownFirmware (platformSlug: string, fileName: string, size: number, hashes: Hashes): boolean {
  const known = KNOWN.get(`${platformSlug}/${fileName}`)
  if (known === undefined || known.size !== size) return false
  return known.md5 === hashes.md5_hash || known.sha1 === hashes.sha1_hash || known.crc === hashes.crc_hash
}
