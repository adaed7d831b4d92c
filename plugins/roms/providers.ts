import type { TObject } from '@sinclair/typebox'
import { IDENTIFYING, KNOWN_PROVIDERS, findKnownProvider } from '../plugins/known-providers.ts'
import { idTypeOf, knowsGames, listProviders } from '../plugins/providers.ts'
import type { Registry } from '../../core/loader/registry.ts'

/** A metadata provider as ROMs show it: `<key>_id` and `<key>_metadata`. */
export interface RomProvider {
  key: string
  id: 'integer' | 'string'
  hasMetadata: boolean
  /** Schema of its raw record; null when that is not known. */
  metadata: TObject | null
  /** Schema of how one user fares in a game there; null when it does not tell. */
  progress: TObject | null
}

export interface RomProviders {
  all: readonly RomProvider[]
  byKey: ReadonlyMap<string, RomProvider>
  /** Providers by which two ROMs are the same game, most trusted first: as `rom_games` has their ids. */
  identifying: readonly string[]
  /** Those that tell how a user fares. */
  telling: readonly string[]
  /** The provider fields of a ROM without a match: each id is null, each metadata object is empty. */
  unknown: Readonly<Record<string, null | object>>
}

/** Apps read keys of the metadata objects without a check, so a ROM without a match has empty ones. */
const fieldsOf = ({ key, hasMetadata }: RomProvider): [string, null | object][] =>
  [[`${key}_id`, null], ...(hasMetadata ? [[`${key}_metadata`, {}] satisfies [string, object]] : [])]

/** From JSON come objects that V8 copies at once; those that are filled by computed names it copies field by field. */
const createUnknown = (providers: readonly RomProvider[]): RomProviders['unknown'] =>
  JSON.parse(JSON.stringify(Object.fromEntries(providers.flatMap(fieldsOf)))) as RomProviders['unknown']

/** The providers clients know, then every other provider that is registered. */
export function createRomProviders (registry: Registry): RomProviders {
  const providers = listProviders(registry)
  const byKey = new Map<string, RomProvider>(KNOWN_PROVIDERS.flatMap(({ key, id, hasMetadata = false }) =>
    id === null ? [] : [[key, { key, id, hasMetadata, metadata: null, progress: null }] as const]))
  for (const provider of providers) {
    const { key, metadata = null, progress = null } = provider
    const id = idTypeOf(provider)
    const hasMetadata = metadata !== null || findKnownProvider(key)?.hasMetadata === true
    if (id !== null) byKey.set(key, { key, id, hasMetadata, metadata, progress })
  }
  const others = providers.filter((provider) => knowsGames(provider) && findKnownProvider(provider.key) === undefined)
    .map((provider) => provider.key).sort()
  const all = [...byKey.values()]
  const telling = all.filter((provider) => provider.progress !== null).map(({ key }) => key)
  return { all, byKey, identifying: [...IDENTIFYING, ...others], telling, unknown: createUnknown(all) }
}
