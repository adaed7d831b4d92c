import type { Config } from '../../core/config/config.ts'
import { getAt } from '../../core/config/setting-values.ts'
import type { SectionOf } from '../../core/config/section.ts'
import { systemConfig } from '../platforms/config.ts'
import { emulatorjsConfig } from './config.ts'
import { DEFAULT_EXCLUDED_EXTENSIONS, DEFAULT_EXCLUDED_FILES, DEFAULT_EXCLUDED_FOLDERS } from '../library/exclusions.ts'
import { listExcluded } from './exclusions.ts'
import type { FileState } from './file.ts'
import { type ConfigView, EXCLUSION_TYPES, type ExclusionType, IMAGES, THUMBNAILS } from './schemas.ts'

/** The parts of the configuration that describe this library, its network or its secrets. */
type PrivateSettings = Pick<ConfigView, ExclusionType | 'CONFIG_FILE_PARSE_ERROR' | 'PLATFORMS_BINDING' | 'PLATFORMS_VERSIONS' |
  'EJS_NETPLAY_ICE_SERVERS'>

const forEachType = (listOf: (type: ExclusionType) => string[]) =>
  Object.fromEntries(EXCLUSION_TYPES.map((type) => [type, listOf(type)])) as Record<ExclusionType, string[]>

/** The values for callers who may not see these parts. */
export const NO_PRIVATE_SETTINGS: PrivateSettings = {
  ...forEachType(() => []),
  CONFIG_FILE_PARSE_ERROR: null,
  PLATFORMS_BINDING: {},
  PLATFORMS_VERSIONS: {},
  EJS_NETPLAY_ICE_SERVERS: []
}

/** @param hidden folders to skip */
export function listOwnSettings (config: Config, problem: string | null, hidden: ReadonlySet<string>): PrivateSettings {
  const shown = (bindings: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(bindings).filter(([folder]) => !hidden.has(folder)))
  return {
    ...forEachType((type) => listExcluded(type, config)),
    CONFIG_FILE_PARSE_ERROR: problem,
    PLATFORMS_BINDING: shown(systemConfig.of(config).platforms),
    PLATFORMS_VERSIONS: shown(systemConfig.of(config).versions),
    EJS_NETPLAY_ICE_SERVERS: [...emulatorjsConfig.of(config).netplay.ice_servers]
  }
}

/** Reads an exporter's setting, if its value is one that clients know. */
function exporterChoice<const T extends string> (
  config: Config, path: string[], allowed: readonly T[], fallback: T
): T {
  const value = getAt(config.scan, path)
  return allowed.find((one) => one === value) ?? fallback
}

function toControls (controls: SectionOf<typeof emulatorjsConfig>['controls']): ConfigView['EJS_CONTROLS'] {
  return Object.fromEntries(Object.entries(controls).map(([core, players]) =>
    [core, { _0: players[0] ?? {}, _1: players[1] ?? {}, _2: players[2] ?? {}, _3: players[3] ?? {} }]))
}

function toOptions (settings: SectionOf<typeof emulatorjsConfig>['settings']): ConfigView['EJS_SETTINGS'] {
  return Object.fromEntries(Object.entries(settings).map(([core, options]) =>
    [core, Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)]))]))
}

export function toConfigView (
  config: Config, { isPresent, isWritable }: FileState, settings: PrivateSettings
): ConfigView {
  const { scan: { priority, media } } = config
  const emulatorjs = emulatorjsConfig.of(config)
  const { cover, screenshot, manual } = priority
  return {
    ...settings,
    CONFIG_FILE_MOUNTED: isPresent || isWritable,
    CONFIG_FILE_WRITABLE: isWritable,
    DEFAULT_EXCLUDED_DIRS: [...DEFAULT_EXCLUDED_FOLDERS],
    DEFAULT_EXCLUDED_FILES: [...DEFAULT_EXCLUDED_FILES],
    DEFAULT_EXCLUDED_EXTENSIONS: [...DEFAULT_EXCLUDED_EXTENSIONS],
    SKIP_HASH_CALCULATION: config.filesystem.skip_hash_calculation,
    EJS_DEBUG: emulatorjs.debug,
    EJS_CACHE_LIMIT: emulatorjs.cache_limit ?? null,
    EJS_DISABLE_AUTO_UNLOAD: emulatorjs.disable_auto_unload,
    EJS_DISABLE_BATCH_BOOTUP: emulatorjs.disable_batch_bootup,
    EJS_NETPLAY_ENABLED: emulatorjs.netplay.enabled,
    EJS_SETTINGS: toOptions(emulatorjs.settings),
    EJS_CONTROLS: toControls(emulatorjs.controls),
    SCAN_METADATA_PRIORITY: priority.metadata,
    SCAN_ARTWORK_PRIORITY: priority.artwork,
    SCAN_ARTWORK_PRIORITY_OVERRIDES: {
      ...(cover === undefined ? {} : { url_cover: cover }),
      ...(screenshot === undefined ? {} : { url_screenshots: screenshot }),
      ...(manual === undefined ? {} : { url_manual: manual })
    },
    SCAN_REGION_PRIORITY: priority.region,
    SCAN_LANGUAGE_PRIORITY: priority.language,
    SCAN_MEDIA: media,
    GAMELIST_AUTO_EXPORT_ON_SCAN: getAt(config.scan, ['gamelist', 'export']) === true,
    GAMELIST_MEDIA_THUMBNAIL: exporterChoice(config, ['gamelist', 'media', 'thumbnail'], THUMBNAILS, 'box2d'),
    GAMELIST_MEDIA_IMAGE: exporterChoice(config, ['gamelist', 'media', 'image'], IMAGES, 'screenshot'),
    PEGASUS_AUTO_EXPORT_ON_SCAN: getAt(config.scan, ['pegasus', 'export']) === true
  }
}
