import type { ProviderDefinition } from '@svc/plugin-sdk'
import { KNOWN_PROVIDERS, findKnownProvider } from '../plugins/known-providers.ts'
import { knowsGames, listProviderKeys, listProviders } from '../plugins/providers.ts'
import type { Registry } from '../../core/loader/registry.ts'

const ANY_FLAG = 'ANY_SOURCE_ENABLED'
const SS_CREDENTIALS_FLAG = 'SS_DEV_CREDENTIALS_SET'
/** Companion apps read these flags even if the provider is not installed. */
export const FIXED_FLAGS: readonly string[] =
  [ANY_FLAG, SS_CREDENTIALS_FLAG, ...KNOWN_PROVIDERS.flatMap(({ flag }) => flag ?? [])]

/** True if a client may ask about the provider. The provider need not be installed. */
export function isKnownProvider (registry: Registry, key: string): boolean {
  return listProviderKeys(registry).includes(key) || isInstalled(registry, key)
}

export const isInstalled = ({ records }: Registry, key: string): boolean =>
  records.some((record) => record.kind === 'provider' && record.key === key)

function flagOf ({ key, heartbeatFlag }: ProviderDefinition): string | null {
  if (heartbeatFlag !== undefined) return heartbeatFlag
  return findKnownProvider(key)?.flag ?? `${key.toUpperCase().replaceAll('-', '_')}_API_ENABLED`
}

/** True if the provider counts as one that identifies games. An unknown provider counts if it knows games. */
function isCounted (definition: ProviderDefinition): boolean {
  const known = findKnownProvider(definition.key)
  return known === undefined ? knowsGames(definition) : known.isCounted === true
}

/** True if lookups reach a provider: it is configured, its process runs, and its service accepts the credentials. */
const isOn = ({ providers, records, refused }: Registry, key: string): boolean =>
  providers.has(key) && !refused.has(key) &&
  records.some((record) => record.kind === 'provider' && record.key === key && record.status === 'active')

/** The flags of metadata providers for clients: true for each that answers lookups. */
export function readFlags (registry: Registry): Record<string, boolean> {
  const { providers, definitions } = registry
  const flags: Record<string, boolean> = Object.fromEntries(FIXED_FLAGS.map((flag) => [flag, false]))
  const known = listProviders({ definitions })
  for (const definition of known) {
    const flag = flagOf(definition)
    if (flag !== null) flags[flag] = isOn(registry, definition.key)
  }
  flags[ANY_FLAG] = known.some((definition) => isCounted(definition) && isOn(registry, definition.key))
  // That provider is active only with its developer pair.
  flags[SS_CREDENTIALS_FLAG] = providers.has('ss')
  return flags
}
