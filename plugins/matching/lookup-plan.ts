import type { ProviderDefinition, ProviderId } from '@svc/plugin-sdk'
import { findTaggedId } from '../library/names.ts'
import type { KnownId } from './match-explanation.ts'
import type { LookupRequest } from './look-up-at-provider.ts'
import type { ScanChoice, ScanType } from './scan-types.ts'

/** The history of a ROM in its scan. */
export type RomHistory =
  /** This scan, or an earlier one that did not finish, added the ROM. */
  'new' |
  /** The ROM was added so and looked up before the worker stopped; only follow-up work such as artwork is left. */
  'resumed' |
  /** The ROM was stored before the scan. */
  'known'

/** The properties of a ROM that decide which providers a scan asks. */
export interface RomToPlan {
  history: RomHistory
  platform_slug: string
  /** File name, whose tags may contain ids of providers. */
  fs_name: string
  /** Stored ids by provider key; null for a provider that only gives ids of other providers. */
  stored: ReadonlyMap<string, ProviderId | null>
  /** Providers whose game a person chose, and those whose record a person wrote. */
  lockedMatches: ReadonlySet<string>
  lockedRecords: ReadonlySet<string>
}

/** The parts of a provider that decide which questions it gets. */
type PlannedProvider = Pick<ProviderDefinition, 'key' | 'platforms' | 'tag' | 'id' | 'usesHashes' | 'getById'>

type Providers = ReadonlyMap<string, { definition: PlannedProvider }>

/** True if a provider can know games of a platform. */
export function knowsPlatform (definition: Pick<ProviderDefinition, 'platforms'>, slug: string): boolean {
  return definition.platforms === undefined || definition.platforms[slug] !== undefined
}

function tagOf ({ tag, id: type }: PlannedProvider, rom: RomToPlan): KnownId | null {
  const id = tag === undefined || type === undefined ? null : findTaggedId(rom.fs_name, tag, type)
  return id === null ? null : { id, from: 'tag' }
}

function needsLookup (type: ScanType, definition: PlannedProvider, rom: RomToPlan): boolean {
  if (rom.history === 'new' || type === 'complete') return true
  const isStored = rom.stored.has(definition.key)
  if (type === 'update') return isStored
  if (type === 'unmatched') return !isStored
  if (type === 'hashes') return definition.usesHashes === true
  return false
}

/** Plans the lookups of a ROM in a scan. */
export function planLookups (
  { type, selected }: ScanChoice, providers: Providers, rom: RomToPlan
): LookupRequest[] {
  if (rom.history === 'resumed') return []
  return selected.flatMap((key) => {
    const definition = providers.get(key)?.definition
    if (definition === undefined || !knowsPlatform(definition, rom.platform_slug)) return []
    if (rom.lockedRecords.has(key) || !needsLookup(type, definition, rom)) return []
    if (rom.lockedMatches.has(key)) {
      const chosen = rom.stored.get(key) ?? null
      return chosen === null ? [] : [{ provider: key, knownId: { id: chosen, from: 'person' }, searches: false }]
    }
    if (type === 'update' && rom.history === 'known') {
      const id = rom.stored.get(key) ?? null
      const knownId: KnownId | null = id === null ? null : { id, from: 'stored' }
      // A provider without a lookup by id searches again.
      return [{ provider: key, knownId, searches: id === null || definition.getById === undefined }]
    }
    return [{ provider: key, knownId: tagOf(definition, rom), searches: true }]
  })
}

/** True if a scan includes a ROM that has a row already. */
export function includesStoredRom ({ type, selected }: ScanChoice, rom: {
  is_identified: boolean, providers: readonly string[]
}): boolean {
  if (type === 'complete' || type === 'hashes') return true
  if (type === 'update') return rom.is_identified && selected.some((key) => rom.providers.includes(key))
  if (type === 'unmatched') return selected.some((key) => !rom.providers.includes(key))
  return false
}
