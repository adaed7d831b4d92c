import type { PlatformFacts, ProviderDefinition, Rom as SdkRom, RomFile, RomPlatform } from '@svc/plugin-sdk'
import type { Config } from '../../core/config.ts'
import { parseName, regionCodes } from '../../core/library/names.ts'
import type { Platform } from '../platforms/entities.ts'
import type { LookupRom } from './subjects.ts'

/** The platform of the ROMs at hand, as the scan knows it. */
export interface ScannedPlatform {
  id: number
  /** A version of a platform is hashed, verified and looked up as that platform. */
  slug: string
  fs_slug: string
  name: string
  fs_path: string
}

export function toScannedPlatform (row: Platform, facts: PlatformFacts | null, fsPath: string): ScannedPlatform {
  const { id, slug, fs_slug: fsSlug, name, custom_name: customName } = row
  return { id, slug: facts?.slug ?? slug, fs_slug: fsSlug, name: customName ?? name, fs_path: fsPath }
}

function sortRegions (rom: LookupRom, config: Config): string[] {
  if (config.scan.priority.region_mode === 'prefer_config') return []
  const wanted = config.scan.priority.region
  const rank = (code: string) => wanted.includes(code) ? wanted.indexOf(code) : wanted.length
  return regionCodes(rom.regions).toSorted((a, b) => rank(a) - rank(b))
}

/** A stored ROM as each provider gets it: the platform carries that provider's own id. */
export function toSdkRom (
  rom: LookupRom, files: RomFile[], platform: ScannedPlatform, config: Config
): (definition: ProviderDefinition) => SdkRom {
  const shared = {
    fs_name: rom.fs_name,
    fs_name_no_ext: rom.fs_name_no_ext,
    fs_name_no_tags: rom.fs_name_no_tags,
    fs_extension: rom.fs_extension,
    fs_path: rom.fs_path,
    regions: rom.regions,
    languages: rom.languages,
    revision: rom.revision ?? null,
    tags: rom.tags,
    crc_hash: rom.crc_hash,
    md5_hash: rom.md5_hash,
    sha1_hash: rom.sha1_hash,
    ra_hash: rom.ra_hash ?? null,
    serial: parseName(rom.fs_name, { isFolder: rom.is_folder }).serial,
    files,
    region_codes: sortRegions(rom, config)
  }
  const { slug, fs_slug: fsSlug, name, fs_path: fsPath } = platform
  return (definition) => {
    const providerId = definition.platforms?.[slug] ?? null
    const romPlatform: RomPlatform = { slug, fs_slug: fsSlug, name, fs_path: fsPath, provider_id: providerId }
    return { ...shared, platform: romPlatform }
  }
}
