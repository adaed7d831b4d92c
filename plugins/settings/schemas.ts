import { MEDIA_KINDS } from '@svc/plugin-sdk'
import { type Static, Type } from '@sinclair/typebox'
import { Nullable, StoredText, StringEnum } from '../../core/typebox.ts'
import {
  DEFAULT_EXCLUDED_EXTENSIONS, DEFAULT_EXCLUDED_FILES, DEFAULT_EXCLUDED_FOLDERS, DEFAULT_EXCLUDED_PART_EXTENSIONS
} from '../library/exclusions.ts'

/** A list of exclusions: its path in `config.yml`, and its built-in entries. */
export interface ExclusionList { path: readonly string[], builtIn: readonly string[], holds: 'names' | 'extensions' }

export const EXCLUSIONS = {
  EXCLUDED_PLATFORMS: { path: ['exclude', 'platforms'], builtIn: DEFAULT_EXCLUDED_FOLDERS, holds: 'names' },
  EXCLUDED_SINGLE_EXT: {
    path: ['exclude', 'roms', 'single_file', 'extensions'], builtIn: DEFAULT_EXCLUDED_EXTENSIONS, holds: 'extensions'
  },
  EXCLUDED_SINGLE_FILES: { path: ['exclude', 'roms', 'single_file', 'names'], builtIn: DEFAULT_EXCLUDED_FILES, holds: 'names' },
  EXCLUDED_MULTI_FILES: { path: ['exclude', 'roms', 'multi_file', 'names'], builtIn: DEFAULT_EXCLUDED_FOLDERS, holds: 'names' },
  EXCLUDED_MULTI_PARTS_EXT: {
    path: ['exclude', 'roms', 'multi_file', 'parts', 'extensions'], builtIn: DEFAULT_EXCLUDED_PART_EXTENSIONS, holds: 'extensions'
  },
  EXCLUDED_MULTI_PARTS_FILES: {
    path: ['exclude', 'roms', 'multi_file', 'parts', 'names'], builtIn: DEFAULT_EXCLUDED_FILES, holds: 'names'
  }
} as const satisfies Record<string, ExclusionList>

export const EXCLUSION_TYPES = [
  'EXCLUDED_PLATFORMS', 'EXCLUDED_SINGLE_EXT', 'EXCLUDED_SINGLE_FILES', 'EXCLUDED_MULTI_FILES', 'EXCLUDED_MULTI_PARTS_EXT',
  'EXCLUDED_MULTI_PARTS_FILES'
] as const satisfies readonly (keyof typeof EXCLUSIONS)[]
export type ExclusionType = typeof EXCLUSION_TYPES[number]

export const THUMBNAILS = ['box2d', 'box3d', 'miximage', 'miximage_v2', 'physical'] as const
export const IMAGES = ['title_screen', 'miximage', 'miximage_v2', 'box2d', 'screenshot'] as const

const NAME_MAX = 1_000
const LIST_MAX = 1_000
const Name = StoredText({ minLength: 1, maxLength: NAME_MAX })
const Names = (description: string) =>
  Type.Array(StoredText({ maxLength: NAME_MAX }), { maxItems: LIST_MAX, description })
const Strings = (description: string) => Type.Array(Type.String(), { description })
const Texts = Type.Record(Type.String(), Type.String())
const Key = Type.Union([Type.String(), Type.Integer()])
const Buttons = Type.Record(Type.String(), Type.Object({ value: Type.Optional(Key), value2: Type.Optional(Key) }))
const ExclusionTypeSchema = StringEnum(EXCLUSION_TYPES, { description: 'The list of exclusions' })

/** Binds a folder to a platform, or makes the folder a version of one. */
export const BindingSchema = Type.Object({
  fs_slug: { ...Name, description: 'Name of the folder' },
  slug: { ...Name, description: 'Slug of the platform' }
}, { title: 'Binding' })
export type Binding = Static<typeof BindingSchema>

export const ExclusionSchema = Type.Object({
  exclusion_type: ExclusionTypeSchema,
  exclusion_value: { ...Name, description: 'An extension, or a name in which *, ? and [...] are patterns' }
}, { title: 'Exclusion' })
export type Exclusion = Static<typeof ExclusionSchema>

export const FolderParams = Type.Object({ fs_slug: Type.String({ description: 'Name of the folder' }) })
export const ExclusionParams = Type.Object({
  exclusion_type: ExclusionTypeSchema,
  exclusion_value: Type.String({ description: 'The entry; its slashes may be percent-encoded or literal' })
})
export const ExclusionRestParams = Type.Object({ exclusion_type: ExclusionTypeSchema, '*': Type.String() })

const Override = (what: string) =>
  Type.Optional(Nullable(Names(`Providers of ${what}, instead of artwork_priority; null to use artwork_priority`)))

/** The scan section. Unknown keys are ignored. */
export const ScanSettingsSchema = Type.Object({
  metadata_priority: Names('Providers of text, most trusted first'),
  artwork_priority: Names('Providers of artwork, most trusted first'),
  cover_priority: Override('covers'),
  screenshot_priority: Override('screenshots'),
  manual_priority: Override('manuals'),
  region_priority: Names('Region codes, most wanted first'),
  language_priority: Names('Language codes, most wanted first'),
  media: Type.Array(StringEnum(MEDIA_KINDS), { maxItems: LIST_MAX, description: 'Media to store besides the cover' }),
  gamelist_export: Type.Boolean({ description: 'Every scan writes gamelist.xml' }),
  pegasus_export: Type.Boolean({ description: 'Every scan writes metadata.pegasus.txt' }),
  gamelist_thumbnail: StringEnum(THUMBNAILS, { description: 'The picture for `thumbnail`' }),
  gamelist_image: StringEnum(IMAGES, { description: 'The picture for `image`' })
}, { title: 'ScanSettings' })
export type ScanSettings = Static<typeof ScanSettingsSchema>

/** The callers for whom these lists are empty. */
const WITHOUT_PLATFORMS_READ = 'without a credential that may read platforms'
const OWN = `Built-in and own entries; empty ${WITHOUT_PLATFORMS_READ}`
const DEFAULTS = 'Built-in entries'

export const ConfigViewSchema = Type.Object({
  CONFIG_FILE_MOUNTED: Type.Boolean({ description: 'True if config.yml exists or can be created' }),
  CONFIG_FILE_WRITABLE: Type.Boolean({ description: 'True if settings can be changed here' }),
  CONFIG_FILE_PARSE_ERROR: Nullable(Type.String({
    description: `The reason why the current config.yml is invalid, so that its former content applies. Null ${WITHOUT_PLATFORMS_READ}`
  })),
  EXCLUDED_PLATFORMS: Strings(OWN),
  EXCLUDED_SINGLE_EXT: Strings(OWN),
  EXCLUDED_SINGLE_FILES: Strings(OWN),
  EXCLUDED_MULTI_FILES: Strings(OWN),
  EXCLUDED_MULTI_PARTS_EXT: Strings(OWN),
  EXCLUDED_MULTI_PARTS_FILES: Strings(OWN),
  DEFAULT_EXCLUDED_DIRS: Strings(DEFAULTS),
  DEFAULT_EXCLUDED_FILES: Strings(DEFAULTS),
  DEFAULT_EXCLUDED_EXTENSIONS: Strings(DEFAULTS),
  PLATFORMS_BINDING: Type.Record(Type.String(), Type.String(), {
    description: `Folder → platform of its ROMs, without hidden platforms; empty ${WITHOUT_PLATFORMS_READ}`
  }),
  PLATFORMS_VERSIONS: Type.Record(Type.String(), Type.String(), {
    description: `Folder → platform of which it is a version, without hidden platforms; empty ${WITHOUT_PLATFORMS_READ}`
  }),
  SKIP_HASH_CALCULATION: Type.Boolean(),
  EJS_DEBUG: Type.Boolean(),
  EJS_CACHE_LIMIT: Nullable(Type.Integer({ description: 'Maximum size in bytes of a ROM that browsers cache' })),
  EJS_DISABLE_AUTO_UNLOAD: Type.Boolean(),
  EJS_DISABLE_BATCH_BOOTUP: Type.Boolean(),
  EJS_NETPLAY_ENABLED: Type.Boolean(),
  EJS_NETPLAY_ICE_SERVERS: Type.Array(Type.Object({
    urls: Type.String(), username: Type.Optional(Type.String()), credential: Type.Optional(Type.String())
  }), { description: `STUN and TURN servers; empty ${WITHOUT_PLATFORMS_READ}` }),
  EJS_SETTINGS: Type.Record(Type.String(), Texts, { description: 'Core → its options, all as text' }),
  EJS_CONTROLS: Type.Record(Type.String(), Type.Object({ _0: Buttons, _1: Buttons, _2: Buttons, _3: Buttons }), {
    description: 'Core → player → button → key and gamepad button'
  }),
  SCAN_METADATA_PRIORITY: Strings('Providers of text, most trusted first'),
  SCAN_ARTWORK_PRIORITY: Strings('Providers of artwork, most trusted first'),
  SCAN_ARTWORK_PRIORITY_OVERRIDES: Type.Object({
    url_cover: Type.Optional(Type.Array(Type.String())),
    url_screenshots: Type.Optional(Type.Array(Type.String())),
    url_manual: Type.Optional(Type.Array(Type.String()))
  }, { description: 'Priorities of single kinds of media' }),
  SCAN_REGION_PRIORITY: Strings('Region codes, most wanted first'),
  SCAN_LANGUAGE_PRIORITY: Strings('Language codes, most wanted first'),
  SCAN_MEDIA: Strings('Media to store besides the cover'),
  GAMELIST_AUTO_EXPORT_ON_SCAN: Type.Boolean(),
  GAMELIST_MEDIA_THUMBNAIL: StringEnum(THUMBNAILS),
  GAMELIST_MEDIA_IMAGE: StringEnum(IMAGES),
  PEGASUS_AUTO_EXPORT_ON_SCAN: Type.Boolean()
}, { title: 'ConfigView' })
export type ConfigView = Static<typeof ConfigViewSchema>
