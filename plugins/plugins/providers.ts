import type { ProviderDefinition } from '@svc/plugin-sdk'
import type { Registry } from '../../core/loader/registry.ts'
import { KNOWN_PROVIDERS } from './known-providers.ts'

/** All providers of this installation, those that are switched off included. */
export const listProviders = (registry: Pick<Registry, 'definitions'>): ProviderDefinition[] => registry.definitions
  .flatMap(({ kind, definition }) => kind === 'provider' ? [definition as ProviderDefinition] : [])

/** The keys of the known providers and of all providers there are: naming one of these is no mistake. */
export const listProviderKeys = (registry: Pick<Registry, 'definitions'>): string[] =>
  [...new Set([...KNOWN_PROVIDERS.map(({ key }) => key), ...listProviders(registry).map(({ key }) => key)])]

/** The type of a provider's ids; null for one that has none of its own. */
export const idTypeOf = ({ kind, id }: ProviderDefinition): 'integer' | 'string' | null =>
  kind === 'ids' ? null : id ?? null

/** Tells whether a provider is known or there, and an id one of its kind. */
export function createIdCheck (registry: Pick<Registry, 'definitions'>): (key: string, id: unknown) => boolean {
  const types = new Map<string, string | null>([
    ...KNOWN_PROVIDERS.map(({ key, id }) => [key, id] as const),
    ...listProviders(registry).map((definition) => [definition.key, idTypeOf(definition)] as const)
  ])
  return (key, id) => {
    const type = types.get(key)
    return type === 'integer' ? Number.isSafeInteger(id) && Number(id) > 0 : type === 'string' && typeof id === 'string' && id !== ''
  }
}

/** Whether a match of this provider alone makes a ROM identified. */
export const knowsGames = ({ kind = 'games' }: Pick<ProviderDefinition, 'kind'>): boolean => kind === 'games'
