import type { TObject } from '@sinclair/typebox'
import { IDENTIFYING, KNOWN_PROVIDERS, findKnownProvider } from '../plugins/known-providers.ts'
import { idTypeOf, knowsGames, listProviders } from '../plugins/providers.ts'
import type { Registry } from '../../core/loader/registry.ts'

/** A metadata provider in the fields of a ROM: `<key>_id` and `<key>_metadata`. */
export interface RomProvider {
  key: string
  id: 'integer' | 'string'
  hasMetadata: boolean
  /** Schema of the provider's raw record; null if unknown. */
  metadata: TObject | null
  /** Schema of a user's progress in a game; null if the provider does not report progress. */
  progress: TObject | null
}

export interface RomProviders {
  all: readonly RomProvider[]
  byKey: ReadonlyMap<string, RomProvider>
  /** Providers that identify two ROMs as the same game, most trusted first. `rom_games` lists ids in the same order. */
  identifying: readonly string[]
  /** Providers that report a user's progress. */
  progressKeys: readonly string[]
  /** The provider fields of a ROM without a match: each id is null, each metadata object is empty. */
  unknown: Readonly<Record<string, null | object>>
}

/** A ROM without a match has empty metadata objects, because apps read their keys without a check. */
const fieldsOf = ({ key, hasMetadata }: RomProvider): [string, null | object][] =>
  [[`${key}_id`, null], ...(hasMetadata ? [[`${key}_metadata`, {}] satisfies [string, object]] : [])]

/** Parses JSON, because V8 copies such objects at once, but copies objects with computed names field by field. */
const createUnknown = (providers: readonly RomProvider[]): RomProviders['unknown'] =>
  JSON.parse(JSON.stringify(Object.fromEntries(providers.flatMap(fieldsOf)))) as RomProviders['unknown']

/** Lists the providers that clients know, then all other registered providers. */
export function createRomProviders (registry: Registry): RomProviders {
  const providers = listProviders(registry)
  const byKey = new Map<string, RomProvider>(KNOWN_PROVIDERS.flatMap(({ key, id, hasMetadata = false }) =>
    id === null ? [] : [[key, { key, id, hasMetadata, metadata: null, progress: null }] as const]))
  for (const provider of providers) {
    const { key, metadata = null, progress: { schema: progress = null } = {} } = provider
    const id = idTypeOf(provider)
    const hasMetadata = metadata !== null || findKnownProvider(key)?.hasMetadata === true
    if (id !== null) byKey.set(key, { key, id, hasMetadata, metadata, progress })
  }
  const others = providers.filter((provider) => knowsGames(provider) && findKnownProvider(provider.key) === undefined)
    .map((provider) => provider.key).sort()
  const all = [...byKey.values()]
  const progressKeys = all.filter((provider) => provider.progress !== null).map(({ key }) => key)
  return { all, byKey, identifying: [...IDENTIFYING, ...others], progressKeys, unknown: createUnknown(all) }
}
