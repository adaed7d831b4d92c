import {
  type Hashes, type PlatformFacts, type Preferences, type ProviderDefinition, type Rom as SdkRom, type RomFile,
  type RomPlatform, listPlatformIds
} from '@svc/plugin-sdk'
import { splitTitles } from '@svc/plugin-sdk/titles'
import type { Config } from '../../core/config/config.ts'
import { parseName, regionCodes } from '../library/names.ts'
import { readPreferences } from '../../core/loader/context.ts'
import type { Platform } from '../platforms/entities.ts'
import type { LookupFile, LookupRom, StoredRom } from './stored-rows.ts'

/** The platform of the looked-up ROMs, as the scan uses it. */
export interface ScannedPlatform {
  id: number
  /** The library whose folder of the platform is scanned. */
  library_id: number
  /** The slug. A version of a platform is hashed, verified and looked up as that platform. */
  slug: string
  fs_slug: string
  name: string
  fs_path: string
}

export function toScannedPlatform (
  row: Platform, facts: PlatformFacts | null, libraryId: number, fsPath: string
): ScannedPlatform {
  const { id, slug, fs_slug: fsSlug, name, custom_name: customName } = row
  const names = { slug: facts?.slug ?? slug, fs_slug: fsSlug, name: customName ?? name }
  return { id, library_id: libraryId, ...names, fs_path: fsPath }
}

function sortRegions (rom: LookupRom, config: Config): string[] {
  const wanted = config.scan.priority.region
  const rank = (code: string) => wanted.includes(code) ? wanted.indexOf(code) : wanted.length
  return regionCodes(rom.regions).toSorted((a, b) => rank(a) - rank(b))
}

/** Returns preferences with these regions first. */
export const preferRegions = (codes: readonly string[], preferences: Preferences): Preferences =>
  ({ ...preferences, regions: [...new Set([...codes, ...preferences.regions])] })

/** Returns the preferences for a ROM, whose own regions may come first. */
export function readPreferencesFor ({ rom }: Pick<StoredRom, 'rom'>, config: Config): Preferences {
  const preferences = readPreferences(config)
  const prefersOwn = config.scan.priority.region_mode === 'prefer_rom_tags'
  return prefersOwn ? preferRegions(sortRegions(rom, config), preferences) : preferences
}

/** Returns the serial or title id in the name of the file. */
export const serialOf = ({ fs_name: name, is_folder: isFolder }: Pick<LookupRom, 'fs_name' | 'is_folder'>): string | null =>
  parseName(name, { isFolder }).serial

/** Converts hashes for a provider: an empty text in the database means an unknown hash. */
function toHashes ({ crc_hash: crc, md5_hash: md5, sha1_hash: sha1 }: Pick<LookupRom, keyof Hashes>): Hashes {
  return { crc_hash: crc || undefined, md5_hash: md5 || undefined, sha1_hash: sha1 || undefined }
}

function toSdkFile ({ chd_sha1_hash: chd, archive_members: members, category, ...file }: LookupFile): RomFile {
  return {
    ...file,
    ...toHashes(file),
    chd_sha1_hash: chd || undefined,
    archive_members: members?.map((member) => ({ ...member, ...toHashes(member) })),
    category: category ?? undefined
  }
}

/** Returns a function that converts a stored ROM for a provider. The platform contains that provider's own ids. */
export function toSdkRom (
  { rom, files }: StoredRom, titles: readonly string[], platform: ScannedPlatform, config: Config
): (definition: ProviderDefinition) => SdkRom {
  const shared = {
    fs_name: rom.fs_name,
    fs_name_no_ext: rom.fs_name_no_ext,
    fs_name_no_tags: rom.fs_name_no_tags,
    fs_extension: rom.fs_extension,
    fs_path: rom.fs_path,
    regions: rom.regions,
    languages: rom.languages,
    revision: rom.revision ?? undefined,
    tags: rom.tags,
    ...toHashes(rom),
    ra_hash: rom.ra_hash ?? undefined,
    serial: serialOf(rom) ?? undefined,
    titles: [...new Set([...titles, ...splitTitles(rom.fs_name_no_tags)])],
    files: files.map(toSdkFile),
    region_codes: sortRegions(rom, config)
  }
  const { slug, fs_slug: fsSlug, name, fs_path: fsPath } = platform
  return (definition) => {
    const ids = listPlatformIds(definition.platforms?.[slug])
    const romPlatform: RomPlatform = { slug, fs_slug: fsSlug, name, fs_path: fsPath, ids }
    return { ...shared, platform: romPlatform }
  }
}
