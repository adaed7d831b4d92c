import type { Hashes, Rom, RomFile } from '@svc/plugin-sdk'

/** More than this in one body is answered with 400. */
const ITEM_LIMIT = 50

/** What of a Dreamcast disc is in the catalogues; the rest describes the disc. */
const DREAMCAST_EXTENSION = /\.(?:bin|chd|cue)$/i

/** The hashes of one file, under the names Hasheous gives them. */
export interface LookupItem { mD5?: string, shA1?: string, crc?: string }

/** The hashes to look a ROM up by; empty when none are known. */
export function listLookupItems (rom: Rom): LookupItem[] {
  return rom.files
    .filter((file) => file.is_top_level && file.file_size_bytes > 0)
    .filter((file) => rom.platform.slug !== 'dc' || DREAMCAST_EXTENSION.test(file.file_name))
    .map(toLookupItem)
    .filter((item) => Object.keys(item).length > 0)
    .slice(0, ITEM_LIMIT)
}

/** A CHD is known by what it contains, an archive by its largest member, and any other file by itself. */
function toLookupItem (file: RomFile): LookupItem {
  if (file.chd_sha1_hash !== null && file.chd_sha1_hash !== '') return { shA1: file.chd_sha1_hash }
  return toItem(findLargestMember(file) ?? file)
}

function findLargestMember (file: RomFile): Hashes | undefined {
  const [largest] = (file.archive_members ?? [])
    .filter((member) => member.size > 0)
    .toSorted((a, b) => b.size - a.size)
  return largest
}

function toItem ({ md5_hash: md5, sha1_hash: sha1, crc_hash: crc }: Hashes): LookupItem {
  return { ...md5 !== '' && { mD5: md5 }, ...sha1 !== '' && { shA1: sha1 }, ...crc !== '' && { crc } }
}
