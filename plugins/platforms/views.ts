import {
  type PlatformFacts, type PlatformRecord, type ProviderDefinition, type ProviderIdType, listPlatformIds
} from '@svc/plugin-sdk'
import { type FirmwareRow, toFirmwareView } from '../firmware/views.ts'
import { KNOWN_PROVIDERS } from '../plugins/known-providers.ts'
import { idTypeOf, listProviders } from '../plugins/providers.ts'
import type { Registry } from '../../core/loader/registry.ts'
import { formatDate } from '../../core/typebox.ts'
import { createFamily, findFamily } from './families.ts'
import { type PlatformView, PLATFORM_ID_KEYS, PLATFORM_SLUG_KEYS } from './schemas.ts'

/** Number and total size of the ROMs of a platform that a caller sees. */
export interface PlatformSize { rom_count: number, fs_size_bytes: number }

/** A platform; times are milliseconds since 1970. */
export interface PlatformRow extends PlatformSize {
  id: number
  slug: string
  fs_slug: string
  name: string
  custom_name: string | null
  description: string | null
  missing_from_fs: boolean
  created_at: number
  updated_at: number
}

const IDENTIFYING = KNOWN_PROVIDERS.filter((provider) => provider.identifiesPlatforms === true).map(({ key }) => key)

/** True if a provider knows a platform with these fields. */
export const isPlatformIdentified = (fields: object | null): boolean => fields !== null &&
  IDENTIFYING.some((key) => (fields as Readonly<Record<string, unknown>>)[`${key}_id`] != null)

type WithId = ProviderDefinition & { id: ProviderIdType }

/** Lists the providers that have their own game ids, including disabled ones. */
export const providersOf = (registry: Registry): WithId[] =>
  listProviders(registry).filter((definition): definition is WithId => idTypeOf(definition) !== null)

type ProviderEntry = NonNullable<ProviderDefinition['platforms']>[string] | undefined

const entryOf = ({ platforms }: ProviderDefinition, facts: PlatformFacts | null): ProviderEntry =>
  facts === null ? undefined : platforms?.[facts.slug]

/** Returns ids and slugs of providers: a provider's own table precedes the built-in facts. */
function providerColumns (providers: readonly ProviderDefinition[], facts: PlatformFacts | null) {
  const factColumns: Readonly<Record<string, unknown>> = facts === null ? {} : { ...facts }
  const ids = new Map(providers.map((provider) => [provider.key, listPlatformIds(entryOf(provider, facts))[0]]))
  const columns: Record<string, unknown> = {}
  for (const { key } of providers) columns[`${key}_id`] = ids.get(key) ?? null
  for (const key of PLATFORM_ID_KEYS) {
    const id = ids.get(key)
    columns[`${key}_id`] = typeof id === 'number' ? id : factColumns[`${key}_id`] ?? null
  }
  for (const key of PLATFORM_SLUG_KEYS) {
    const slug = ids.get(key)
    columns[`${key}_slug`] = typeof slug === 'string' ? slug : factColumns[`${key}_slug`] ?? null
  }
  return columns
}

const isRecord = (entry: ProviderEntry): entry is PlatformRecord =>
  typeof entry === 'object' && !Array.isArray(entry)

/** True for a web address. Any other URL would reach clients as a link to open. */
const isWebAddress = (url: string | undefined) => url !== undefined && /^https?:\/\//i.test(url)

/**
 * Returns family and logo of a platform, each from the first provider that knows it. The table of families comes last.
 */
function providerFacts (providers: readonly ProviderDefinition[], facts: PlatformFacts | null) {
  const records = providers.map((provider) => entryOf(provider, facts)).filter(isRecord)
  const given = records.find(({ family_name: name }) => name !== undefined && name !== '')?.family_name
  const family = given !== undefined ? createFamily(given) : facts === null ? null : findFamily(facts.slug)
  return {
    family_name: family?.family_name ?? null,
    family_slug: family?.family_slug ?? null,
    url_logo: records.find(({ url_logo: url }) => isWebAddress(url))?.url_logo ?? null
  }
}

export function toPlatformView (
  row: PlatformRow, facts: PlatformFacts | null, firmware: readonly FirmwareRow[],
  providers: readonly ProviderDefinition[]
): PlatformView {
  const columns = providerColumns(providers, facts)
  const isIdentified = isPlatformIdentified(columns)
  return {
    ...columns,
    ...row,
    category: facts?.category ?? null,
    generation: facts?.generation ?? null,
    ...providerFacts(providers, facts),
    url: null,
    firmware: firmware.map(toFirmwareView),
    created_at: formatDate(row.created_at),
    updated_at: formatDate(row.updated_at),
    is_unidentified: !isIdentified,
    is_identified: isIdentified,
    display_name: row.custom_name ?? row.name,
    firmware_count: firmware.length
  }
}

/** Returns the view of a platform without a row, which is known or exists on disk. */
export function toSyntheticView (
  names: { slug: string, fs_slug: string, name: string }, facts: PlatformFacts | null, now: Date,
  providers: readonly ProviderDefinition[]
): PlatformView {
  const row = {
    ...names, id: -1, custom_name: null, description: null, missing_from_fs: false, rom_count: 0, fs_size_bytes: 0,
    created_at: now.getTime(), updated_at: now.getTime()
  }
  const view = toPlatformView(row, facts, [], providers)
  return { ...view, url_logo: view.url_logo ?? '' }
}
