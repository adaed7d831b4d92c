import type { PlatformFacts, ProviderDefinition, ProviderIdType } from '@svc/plugin-sdk'
import type { Registry } from '../../core/loader/registry.ts'
import { parseName } from '../../core/library/names.ts'
import { formatDate } from '../../core/typebox.ts'
import { type FirmwareView, type PlatformView, PLATFORM_ID_KEYS, PLATFORM_SLUG_KEYS } from './schemas.ts'

/** Times are milliseconds since 1970. */
export interface PlatformRow {
  id: number
  slug: string
  fs_slug: string
  name: string
  custom_name: string | null
  description: string | null
  missing_from_fs: boolean
  created_at: number
  updated_at: number
  rom_count: number
  fs_size_bytes: number
}

export interface FirmwareRow {
  id: number
  platform_id: number
  file_name: string
  file_path: string
  file_size_bytes: number
  crc_hash: string
  md5_hash: string
  sha1_hash: string
  is_verified: boolean
  missing_from_fs: boolean
  created_at: number
  updated_at: number
}

const IDENTIFYING = ['igdb', 'moby', 'ss', 'launchbox', 'ra', 'hasheous'] as const

type WithId = ProviderDefinition & { id: ProviderIdType }

/** The providers that give games ids of their own, those that are switched off included. */
export const providersOf = (registry: Registry): WithId[] => registry.definitions
  .flatMap(({ kind, definition }) => kind === 'provider' ? [definition as ProviderDefinition] : [])
  .filter((definition): definition is WithId => definition.id !== undefined)

export function toFirmwareView (row: FirmwareRow): FirmwareView {
  const parsed = parseName(row.file_name)
  const { platform_id: _platform, ...fields } = row
  return {
    ...fields,
    file_name_no_tags: parsed.fs_name_no_tags,
    file_name_no_ext: parsed.fs_name_no_ext,
    file_extension: parsed.fs_extension,
    full_path: `${row.file_path}/${row.file_name}`,
    created_at: formatDate(row.created_at),
    updated_at: formatDate(row.updated_at)
  }
}

/** The ids and slugs of other sources: a provider's own table first, then what is known without it. */
function sourceColumns (providers: readonly ProviderDefinition[], facts: PlatformFacts | null) {
  const known: Readonly<Record<string, unknown>> = facts === null ? {} : { ...facts }
  const own = (key: string) => facts === null
    ? undefined
    : providers.find((provider) => provider.key === key)?.platforms?.[facts.slug]
  const columns: Record<string, unknown> = {}
  for (const { key } of providers) columns[`${key}_id`] = own(key) ?? null
  for (const key of PLATFORM_ID_KEYS) {
    const id = own(key)
    columns[`${key}_id`] = typeof id === 'number' ? id : known[`${key}_id`] ?? null
  }
  for (const key of PLATFORM_SLUG_KEYS) {
    const slug = own(key)
    columns[`${key}_slug`] = typeof slug === 'string' ? slug : known[`${key}_slug`] ?? null
  }
  return columns
}

export function toPlatformView (
  row: PlatformRow, facts: PlatformFacts | null, firmware: readonly FirmwareRow[],
  providers: readonly ProviderDefinition[]
): PlatformView {
  const columns = sourceColumns(providers, facts)
  const isIdentified = IDENTIFYING.some((key) => columns[`${key}_id`] !== null)
  return {
    ...columns,
    ...row,
    category: facts?.category ?? null,
    generation: facts?.generation ?? null,
    family_name: null,
    family_slug: null,
    url: null,
    url_logo: null,
    firmware: firmware.map(toFirmwareView),
    created_at: formatDate(row.created_at),
    updated_at: formatDate(row.updated_at),
    is_unidentified: !isIdentified,
    is_identified: isIdentified,
    display_name: row.custom_name ?? row.name,
    firmware_count: firmware.length
  }
}

/** A platform that is known or lies on disk, but has no row. */
export function toSyntheticView (
  names: { slug: string, fs_slug: string, name: string }, facts: PlatformFacts | null, now: Date,
  providers: readonly ProviderDefinition[]
): PlatformView {
  const row = {
    ...names, id: -1, custom_name: null, description: null, missing_from_fs: false, rom_count: 0, fs_size_bytes: 0,
    created_at: now.getTime(), updated_at: now.getTime()
  }
  return { ...toPlatformView(row, facts, [], providers), url_logo: '' }
}
