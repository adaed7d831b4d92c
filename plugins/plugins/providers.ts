import type { ProviderDefinition } from '@svc/plugin-sdk'
import type { Registry } from '../../core/loader/registry.ts'
import { KNOWN_PROVIDERS } from './known-providers.ts'

/** Returns all providers of this installation, also those that are switched off. */
export const listProviders = (registry: Pick<Registry, 'definitions'>): ProviderDefinition[] => registry.definitions
  .flatMap(({ kind, definition }) => kind === 'provider' ? [definition as ProviderDefinition] : [])

/** Returns the keys of the known and of all installed providers, which requests may name. */
export const listProviderKeys = (registry: Pick<Registry, 'definitions'>): string[] =>
  [...new Set([...KNOWN_PROVIDERS.map(({ key }) => key), ...listProviders(registry).map(({ key }) => key)])]

/** Returns the type of a provider's ids; null for a provider without its own ids. */
export const idTypeOf = ({ kind, id }: ProviderDefinition): 'integer' | 'string' | null =>
  kind === 'ids' ? null : id ?? null

/** Creates a check that a provider is known or installed, and an id is of its type. */
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

/** True if a match of this provider alone makes a ROM identified. */
export const knowsGames = ({ kind = 'games' }: Pick<ProviderDefinition, 'kind'>): boolean => kind === 'games'
