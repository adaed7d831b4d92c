import type { ProviderDefinition, ProviderId } from '@svc/plugin-sdk'
import type { Loaded } from '../../../core/loader/registry.ts'
import type { Lookup } from './one-rom.ts'
import type { ScanType } from '../scan-types.ts'

/** What decides which providers are asked about a ROM. */
export interface LookupSubject {
  isNew: boolean
  platform_slug: string
  /** Ids that stand in the file name, by the provider's tag. */
  provider_tags: Record<string, number>
  /** Stored ids by provider key; null for a provider that gives ids of others only. */
  stored: ReadonlyMap<string, ProviderId | null>
  /** Already looked up by this scan, before its worker went down. */
  isSettled: boolean
  /** Providers whose game a person chose, and those whose record a person wrote. */
  held: ReadonlySet<string>
  rewritten: ReadonlySet<string>
}

type Providers = ReadonlyMap<string, Loaded<ProviderDefinition>>

/** Whether a provider can know anything of a platform. */
export function knowsPlatform (definition: ProviderDefinition, slug: string): boolean {
  return definition.platforms === undefined || definition.platforms[slug] !== undefined
}

function tagOf (definition: ProviderDefinition, subject: LookupSubject): ProviderId | null {
  return definition.tag === undefined ? null : subject.provider_tags[definition.tag] ?? null
}

function isAsked (type: ScanType, definition: ProviderDefinition, subject: LookupSubject): boolean {
  if (subject.isNew || type === 'complete') return true
  const isStored = subject.stored.has(definition.key)
  if (type === 'update') return isStored
  if (type === 'unmatched') return !isStored
  if (type === 'hashes') return definition.usesHashes === true
  return false
}

/** The lookups a scan of this type makes for a ROM. */
export function planLookups (
  type: ScanType, selected: readonly string[], providers: Providers, subject: LookupSubject
): Lookup[] {
  if (subject.isSettled) return []
  return selected.flatMap((key) => {
    const definition = providers.get(key)?.definition
    if (definition === undefined || !knowsPlatform(definition, subject.platform_slug)) return []
    if (subject.rewritten.has(key) || !isAsked(type, definition, subject)) return []
    if (subject.held.has(key)) {
      const chosen = subject.stored.get(key) ?? null
      return chosen === null ? [] : [{ provider: key, knownId: chosen, searches: false }]
    }
    if (type === 'update' && !subject.isNew) {
      const knownId = subject.stored.get(key) ?? null
      // A provider that cannot be asked by id is asked as at first.
      return [{ provider: key, knownId, searches: knownId === null || definition.getById === undefined }]
    }
    return [{ provider: key, knownId: tagOf(definition, subject), searches: true }]
  })
}

/** Whether a scan of this type takes a ROM that is known already. */
export function takesKnown (type: ScanType, selected: readonly string[], known: {
  is_identified: boolean, providers: readonly string[]
}): boolean {
  if (type === 'complete' || type === 'hashes') return true
  if (type === 'update') return known.is_identified && selected.some((key) => known.providers.includes(key))
  if (type === 'unmatched') return selected.some((key) => !known.providers.includes(key))
  return false
}
