import { parseName } from '../library/names.ts'
import type { MergeBase } from './merge-matches.ts'
import { readLockedValues } from './field-locks.ts'
import { embeddedCoverOf } from './embedded-cover.ts'
import type { LookupRom } from './stored-rows.ts'

/** Returns the values that a merge starts from. Values of a former match stay, except in a complete scan. */
export function toMergeBase (rom: LookupRom, isFresh: boolean): MergeBase {
  const parsed = parseName(rom.fs_name, { isFolder: rom.is_folder })
  const { name, summary, url_screenshots: screenshots, url_manual: manual, media, url_cover: cover } = rom
  const ownCover = embeddedCoverOf(rom)
  const isCoverKept = typeof rom.path_cover_large === 'string' && cover !== ownCover
  return {
    fs_name_no_tags: rom.fs_name_no_tags,
    regions: parsed.regions,
    languages: parsed.languages,
    own_cover: ownCover,
    locked: readLockedValues(rom),
    former: isFresh
      ? {}
      : {
          name: name ?? null, summary: summary ?? null, url_cover: isCoverKept ? cover ?? null : null,
          url_screenshots: screenshots, url_manual: manual ?? null, media
        }
  }
}
