/** A metadata provider that clients know by name, whether or not its plugin is installed. */
export interface KnownProvider {
  key: string
  /** The type of `<key>_id` of ROMs; null for a provider without its own ids. */
  id: 'integer' | 'string' | null
  /** True if ROMs have a `<key>_metadata`. */
  hasMetadata?: boolean
  /** The name in `GET /api/heartbeat`; null for a provider that is always available. */
  flag: string | null
  /** The fields that platforms have of the provider. */
  platform?: readonly ('id' | 'slug')[]
  /** True if a platform that the provider knows counts as identified. */
  identifiesPlatforms?: boolean
  /** True if the provider counts in the heartbeat as one that identifies games. */
  isCounted?: boolean
}

/** The known providers, in the order of the fields of a ROM. Companion apps always read these fields and names. */
export const KNOWN_PROVIDERS: readonly KnownProvider[] = [
  { key: 'igdb', id: 'integer', hasMetadata: true, flag: 'IGDB_API_ENABLED', platform: ['id', 'slug'], identifiesPlatforms: true, isCounted: true },
  { key: 'sgdb', id: 'integer', flag: 'STEAMGRIDDB_API_ENABLED', platform: ['id'] },
  { key: 'moby', id: 'integer', hasMetadata: true, flag: 'MOBY_API_ENABLED', platform: ['id', 'slug'], identifiesPlatforms: true, isCounted: true },
  { key: 'ss', id: 'integer', hasMetadata: true, flag: 'SS_API_ENABLED', platform: ['id'], identifiesPlatforms: true, isCounted: true },
  { key: 'ra', id: 'integer', flag: 'RA_API_ENABLED', platform: ['id'], identifiesPlatforms: true, isCounted: true },
  { key: 'launchbox', id: 'integer', hasMetadata: true, flag: 'LAUNCHBOX_API_ENABLED', platform: ['id'], identifiesPlatforms: true, isCounted: true },
  { key: 'hasheous', id: 'integer', hasMetadata: true, flag: 'HASHEOUS_API_ENABLED', platform: ['id'], identifiesPlatforms: true, isCounted: true },
  { key: 'tgdb', id: 'integer', flag: 'TGDB_API_ENABLED', platform: ['id'], isCounted: true },
  { key: 'flashpoint', id: 'string', hasMetadata: true, flag: 'FLASHPOINT_API_ENABLED', platform: ['id'], isCounted: true },
  { key: 'hltb', id: 'integer', hasMetadata: true, flag: 'HLTB_API_ENABLED', platform: ['slug'], isCounted: true },
  { key: 'gamelist', id: 'string', hasMetadata: true, flag: null },
  { key: 'libretro', id: 'string', flag: 'LIBRETRO_API_ENABLED', platform: ['slug'], isCounted: true },
  { key: 'playmatch', id: null, flag: 'PLAYMATCH_API_ENABLED' },
  { key: 'demozoo', id: 'integer', hasMetadata: true, flag: 'DEMOZOO_API_ENABLED' },
  { key: 'pouet', id: 'integer', hasMetadata: true, flag: 'POUET_API_ENABLED' },
  { key: 'csdb', id: 'integer', hasMetadata: true, flag: 'CSDB_API_ENABLED' },
  { key: 'steam', id: 'integer', hasMetadata: true, flag: 'STEAM_API_ENABLED' }
]

/** The order in which the ids of known providers decide which ROMs are one game. */
export const IDENTIFYING = ['igdb', 'ss', 'moby', 'ra', 'hasheous', 'launchbox', 'tgdb', 'flashpoint']
/** The order of providers in statistics; other providers follow. */
export const COVERAGE_ORDER = ['igdb', 'ss', 'moby', 'launchbox', 'ra', 'hasheous', 'tgdb', 'flashpoint', 'hltb', 'gamelist', 'libretro']

const BY_KEY = new Map(KNOWN_PROVIDERS.map((provider) => [provider.key, provider]))

export const findKnownProvider = (key: string): KnownProvider | undefined => BY_KEY.get(key)
