import type { Hashes, Rom, RomFile } from '@svc/plugin-sdk'

/** More than this in one body is answered with 400. */
const ITEM_LIMIT = 50

/** What of a Dreamcast disc is in the catalogues; the rest describes the disc. */
const DREAMCAST_EXTENSION = /\.(?:bin|chd|cue)$/i

/** The hashes of one file, under the names Hasheous gives them. */
export interface LookupItem { mD5?: string | undefined, shA1?: string | undefined, crc?: string | undefined }

/** The hashes to look a ROM up by; empty when none are known. */
export function listLookupItems (rom: Rom): LookupItem[] {
  return rom.files
    .filter((file) => file.is_top_level && file.file_size_bytes > 0)
    .filter((file) => rom.platform.slug !== 'dc' || DREAMCAST_EXTENSION.test(file.file_name))
    .map(toLookupItem)
    .filter((item) => Object.values(item).some((hash) => hash !== undefined))
    .slice(0, ITEM_LIMIT)
}

/** A CHD is known by what it contains, an archive by its largest member, and any other file by itself. */
function toLookupItem (file: RomFile): LookupItem {
  if (file.chd_sha1_hash !== undefined) return { shA1: file.chd_sha1_hash }
  const { md5_hash: mD5, sha1_hash: shA1, crc_hash: crc } = findLargestMember(file) ?? file
  return { mD5, shA1, crc }
}

function findLargestMember (file: RomFile): Hashes | undefined {
  const [largest] = (file.archive_members ?? [])
    .filter((member) => member.size > 0)
    .toSorted((a, b) => b.size - a.size)
  return largest
}
