import type { ProviderDefinition } from '@svc/plugin-sdk'
import type { Registry } from '../../core/loader/registry.ts'

/** Companion apps read these names whether or not the source is installed. */
const FLAG_OF_SOURCE: Readonly<Record<string, string>> = {
  igdb: 'IGDB_API_ENABLED',
  ss: 'SS_API_ENABLED',
  moby: 'MOBY_API_ENABLED',
  sgdb: 'STEAMGRIDDB_API_ENABLED',
  ra: 'RA_API_ENABLED',
  launchbox: 'LAUNCHBOX_API_ENABLED',
  hasheous: 'HASHEOUS_API_ENABLED',
  playmatch: 'PLAYMATCH_API_ENABLED',
  tgdb: 'TGDB_API_ENABLED',
  flashpoint: 'FLASHPOINT_API_ENABLED',
  hltb: 'HLTB_API_ENABLED',
  libretro: 'LIBRETRO_API_ENABLED'
}
const ANY_FLAG = 'ANY_SOURCE_ENABLED'
const SS_CREDENTIALS_FLAG = 'SS_DEV_CREDENTIALS_SET'
export const FIXED_FLAGS: readonly string[] = [ANY_FLAG, SS_CREDENTIALS_FLAG, ...Object.values(FLAG_OF_SOURCE)]

/** Sources that count as one that identifies games. */
const COUNTED = ['igdb', 'ss', 'moby', 'ra', 'launchbox', 'hasheous', 'tgdb', 'flashpoint', 'hltb', 'libretro']

/** Sources a client may ask about although none of them need be installed. */
const KNOWN_SOURCES: ReadonlySet<string> = new Set([
  ...Object.keys(FLAG_OF_SOURCE), 'gamelist', 'demozoo', 'pouet', 'csdb', 'steam'
])

export function isKnownSource (registry: Registry, key: string): boolean {
  return KNOWN_SOURCES.has(key) || registry.records.some((record) => record.kind === 'provider' && record.key === key)
}

function flagOf ({ key, heartbeatFlag }: ProviderDefinition): string | null {
  if (heartbeatFlag !== undefined) return heartbeatFlag
  return FLAG_OF_SOURCE[key] ?? `${key.toUpperCase().replaceAll('-', '_')}_API_ENABLED`
}

/** What clients are told of the metadata sources: a flag for each, true when it can be asked. */
export function readFlags ({ providers, definitions }: Registry): Record<string, boolean> {
  const flags: Record<string, boolean> = Object.fromEntries(FIXED_FLAGS.map((flag) => [flag, false]))
  for (const { kind, definition } of definitions) {
    const flag = kind === 'provider' ? flagOf(definition) : null
    if (flag !== null) flags[flag] = providers.has(definition.key)
  }
  flags[ANY_FLAG] = COUNTED.some((key) => providers.has(key))
  // That provider is active only with its developer pair.
  flags[SS_CREDENTIALS_FLAG] = providers.has('ss')
  return flags
}
