import { type HashKind, type Rom, type RomFile, contentHashes, listHashKinds } from '@svc/plugin-sdk'

/** Hasheous answers a body with more items with 400. */
const ITEM_LIMIT = 50

/** Files of a Dreamcast disc that catalogues list; other files describe the disc. */
const DREAMCAST_EXTENSION = /\.(?:bin|chd|cue)$/i

/** The hashes of one file, under Hasheous' names. */
export interface LookupItem { mD5?: string | undefined, shA1?: string | undefined, crc?: string | undefined }

/** Lists the hashes for a lookup of a ROM; empty when none are known. */
export function listLookupItems (rom: Rom): LookupItem[] {
  return rom.files
    .filter((file) => file.is_top_level && file.file_size_bytes > 0)
    .filter((file) => rom.platform.slug !== 'dc' || DREAMCAST_EXTENSION.test(file.file_name))
    .map(toLookupItem)
    .filter((item) => Object.values(item).some((hash) => hash !== undefined))
    .slice(0, ITEM_LIMIT)
}

/** Returns the kinds of hash that a lookup sends. */
export function listKinds (items: readonly LookupItem[]): HashKind[] {
  return listHashKinds({
    crc_hash: items.find(({ crc }) => crc !== undefined)?.crc,
    md5_hash: items.find(({ mD5 }) => mD5 !== undefined)?.mD5,
    sha1_hash: items.find(({ shA1 }) => shA1 !== undefined)?.shA1
  })
}

function toLookupItem (file: RomFile): LookupItem {
  const { md5_hash: mD5, sha1_hash: shA1, crc_hash: crc } = contentHashes(file)
  return { mD5, shA1, crc }
}
