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

/** Whether a match of this provider alone makes a ROM identified. */
export const knowsGames = ({ kind = 'games' }: Pick<ProviderDefinition, 'kind'>): boolean => kind === 'games'
