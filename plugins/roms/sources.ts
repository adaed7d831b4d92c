import type { ProviderDefinition } from '@svc/plugin-sdk'
import type { TObject } from '@sinclair/typebox'
import type { Registry } from '../../core/loader/registry.ts'

/** A metadata source as ROMs show it: `<key>_id` and `<key>_metadata`. */
export interface Source {
  key: string
  id: 'integer' | 'string'
  /** Schema of its raw record; null when it keeps none. */
  metadata: TObject | null
}

export interface Sources {
  all: readonly Source[]
  byKey: ReadonlyMap<string, Source>
  /** Sources by which two ROMs are the same game, most trusted first. */
  identifying: readonly string[]
}

/** Fields every answer has, with or without the source's plugin. */
const KNOWN: readonly (readonly [key: string, id: Source['id'], hasMetadata: boolean])[] = [
  ['igdb', 'integer', true],
  ['sgdb', 'integer', false],
  ['moby', 'integer', true],
  ['ss', 'integer', true],
  ['ra', 'integer', false],
  ['launchbox', 'integer', true],
  ['hasheous', 'integer', true],
  ['tgdb', 'integer', false],
  ['flashpoint', 'string', true],
  ['hltb', 'integer', true],
  ['gamelist', 'string', true],
  ['libretro', 'string', false]
]
export const KNOWN_METADATA: readonly string[] = KNOWN.filter(([, , hasMetadata]) => hasMetadata).map(([key]) => key)
/** The order in which a source's id decides which ROMs are one game. */
const IDENTIFYING = ['igdb', 'ss', 'moby', 'ra', 'hasheous', 'launchbox', 'tgdb', 'flashpoint']

/** The sources clients know, then every other provider that is registered. */
export function createSources (registry: Registry): Sources {
  const providers = registry.definitions
    .flatMap(({ kind, definition }) => kind === 'provider' ? [definition as ProviderDefinition] : [])
  const byKey = new Map<string, Source>(KNOWN.map(([key, id]) => [key, { key, id, metadata: null }]))
  for (const { key, id, metadata = null } of providers) {
    if (id !== undefined) byKey.set(key, { key, id, metadata })
  }
  const others = providers.filter((provider) => (provider.kind ?? 'games') === 'games' &&
    !KNOWN.some(([key]) => key === provider.key)).map((provider) => provider.key)
  return { all: [...byKey.values()], byKey, identifying: [...IDENTIFYING, ...others] }
}
