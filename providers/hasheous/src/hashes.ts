import { type Rom, type RomFile, contentHashes } from '@svc/plugin-sdk'

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

function toLookupItem (file: RomFile): LookupItem {
  const { md5_hash: mD5, sha1_hash: shA1, crc_hash: crc } = contentHashes(file)
  return { mD5, shA1, crc }
}
