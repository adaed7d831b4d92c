import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { DateTime, Nullable, StringEnum } from '../../core/typebox.ts'
import { ROM_FILE_CATEGORIES } from '../entries/categories.ts'
import { UserNoteSchema } from '../notes/schemas.ts'
import { DUMP_STATUSES, PLAY_STATUSES } from './entities.ts'
import { gameSchemas } from './game-fields.ts'
import type { JsonPieces } from '../../core/web/cached-text.ts'
import type { RomProviders } from './providers.ts'

const Texts = Type.Array(Type.String())
const Count = Type.Integer({ minimum: 0 })

export const RomUserSchema = Type.Object({
  id: Type.Integer({ description: '-1 when the caller has no marks on this ROM' }),
  user_id: Type.Integer(),
  rom_id: Type.Integer(),
  created_at: DateTime,
  updated_at: DateTime,
  last_played: Nullable(DateTime),
  is_main_sibling: Type.Boolean(),
  backlogged: Type.Boolean(),
  now_playing: Type.Boolean(),
  hidden: Type.Boolean(),
  rating: Type.Integer(),
  difficulty: Type.Integer(),
  completion: Type.Integer(),
  status: Nullable(StringEnum(PLAY_STATUSES))
}, { title: 'RomUser' })
export type RomUserView = Static<typeof RomUserSchema>

const ArchiveMemberSchema = Type.Object({
  name: Type.String(), size: Type.Integer(), crc_hash: Type.String(), md5_hash: Type.String(), sha1_hash: Type.String()
}, { title: 'ArchiveMember' })

export const TrackMetaSchema = Type.Object({
  title: Nullable(Type.String()),
  artist: Nullable(Type.String()),
  album: Nullable(Type.String()),
  genre: Nullable(Type.String()),
  year: Nullable(Type.Integer()),
  track: Nullable(Type.Integer()),
  disc: Nullable(Type.Integer()),
  duration_seconds: Nullable(Type.Number()),
  has_embedded_cover: Type.Boolean(),
  cover_path: Nullable(Type.String())
}, { title: 'TrackMeta' })

export const RomFileSchema = Type.Object({
  id: Type.Integer(),
  rom_id: Type.Integer(),
  file_name: Type.String(),
  file_path: Type.String({ description: 'Path of the folder, relative to the library' }),
  full_path: Type.String(),
  file_size_bytes: Type.Integer(),
  is_top_level: Type.Boolean(),
  created_at: DateTime,
  updated_at: DateTime,
  last_modified: DateTime,
  crc_hash: Nullable(Type.String()),
  md5_hash: Nullable(Type.String()),
  sha1_hash: Nullable(Type.String()),
  ra_hash: Nullable(Type.String()),
  chd_sha1_hash: Nullable(Type.String()),
  archive_members: Nullable(Type.Array(ArchiveMemberSchema)),
  category: Nullable(StringEnum(ROM_FILE_CATEGORIES)),
  track_meta: Nullable(TrackMetaSchema)
}, { title: 'RomFile' })
export type RomFileView = Static<typeof RomFileSchema>

const SiblingSchema = Type.Object({
  id: Type.Integer(),
  name: Nullable(Type.String()),
  fs_name_no_tags: Type.String(),
  fs_name_no_ext: Type.String(),
  is_main_sibling: Type.Boolean(),
  sort_comparator: Type.String()
}, { title: 'SiblingRom' })
export type SiblingView = Static<typeof SiblingSchema>

const MetadatumSchema = Type.Object({ rom_id: Type.Integer(), ...gameSchemas('metadatum') }, { title: 'RomMetadatum' })

const Free = Type.Object({}, { additionalProperties: true })

/** Fields that do not depend on the installed providers. */
const RomFields = Type.Object({
  id: Type.Integer(),
  library_id: Type.Integer({ description: 'Id of the library that contains the ROM' }),
  platform_id: Type.Integer(),
  platform_slug: Type.String(),
  platform_fs_slug: Type.String(),
  platform_custom_name: Nullable(Type.String()),
  platform_display_name: Type.String(),
  fs_name: Type.String(),
  fs_name_no_tags: Type.String(),
  fs_name_no_ext: Type.String(),
  fs_extension: Type.String(),
  fs_path: Type.String({ description: 'Path of the folder of the ROM, relative to the library' }),
  fs_size_bytes: Count,
  name: Nullable(Type.String()),
  name_sort_key: Nullable(Type.String()),
  slug: Nullable(Type.String()),
  summary: Nullable(Type.String()),
  alternative_names: Texts,
  youtube_video_id: Nullable(Type.String()),
  metadatum: MetadatumSchema,
  manual_metadata: Free,
  path_cover_small: Type.String({ description: 'Empty when there is none' }),
  path_cover_large: Type.String({ description: 'Empty when there is none' }),
  url_cover: Type.String({ description: 'Empty when there is none' }),
  has_manual: Type.Boolean(),
  has_soundtrack: Type.Boolean(),
  path_manual: Type.String({ description: 'Relative to the resources folder, empty when there is none' }),
  url_manual: Type.String({ description: 'Empty when there is none' }),
  path_video: Nullable(Type.String({ description: 'Relative to the resources folder' })),
  is_identifying: Type.Boolean({ description: 'True only in events of a scan' }),
  is_unidentified: Type.Boolean(),
  is_identified: Type.Boolean(),
  revision: Nullable(Type.String()),
  regions: Texts,
  languages: Texts,
  tags: Texts,
  crc_hash: Nullable(Type.String()),
  md5_hash: Nullable(Type.String()),
  sha1_hash: Nullable(Type.String()),
  ra_hash: Nullable(Type.String()),
  has_simple_single_file: Type.Boolean(),
  has_nested_single_file: Type.Boolean(),
  has_multiple_files: Type.Boolean(),
  full_path: Type.String(),
  created_at: DateTime,
  updated_at: DateTime,
  missing_from_fs: Type.Boolean(),
  dump_status: Nullable(StringEnum(DUMP_STATUSES, {
    description: 'Comparison with the DAT files of the platform; `misnamed` is a good dump under another name; null if the platform has no DAT file'
  })),
  has_notes: Type.Boolean(),
  rom_user: RomUserSchema,
  merged_screenshots: Type.Array(Type.String({ description: 'Path below the base URL of the server' })),
  merged_ra_metadata: Free,
  files: Type.Array(RomFileSchema),
  sibling_roms: Type.Array(SiblingSchema)
})

const SimpleFields = Type.Object({
  screenshot_path: Nullable(Type.String({ description: 'In lists of the games that you played: the picture of your newest save, else the title screen, else a screenshot' }))
})
const UserCollectionSchema = Type.Object({ id: Type.Integer(), name: Type.String(), is_smart: Type.Boolean() }, { title: 'UserCollection' })
export type UserCollectionView = Static<typeof UserCollectionSchema>
const DetailedFields = Type.Object({
  user_collections: Type.Array(UserCollectionSchema, { description: 'Your collections and public ones with this ROM: first plain, then smart collections' }),
  all_user_notes: Type.Array(UserNoteSchema)
})

/** The names of all fields of a ROM and of the objects in it, beside which providers add theirs. */
export const ROM_FIELD_NAMES = [
  RomFields, SimpleFields, DetailedFields, MetadatumSchema, RomUserSchema, RomFileSchema, SiblingSchema
].flatMap(({ properties }) => Object.keys(properties))

/** `<key>_id` and `<key>_metadata` of every provider are added, as the OpenAPI document shows. */
type WithProviders<Fields> = Fields & Readonly<Record<string, unknown>>
export type RomView = WithProviders<Static<typeof RomFields>>
export type SimpleRomView = WithProviders<Static<typeof RomFields> & Static<typeof SimpleFields>>
/** Fields that differ for each caller. */
type CallerFields = 'rom_user' | 'has_notes' | 'sibling_roms'
export type SharedRomView = WithProviders<Omit<Static<typeof RomFields>, CallerFields>>
export type CallerRomView = WithProviders<Pick<Static<typeof RomFields>, CallerFields>>
type SimpleCallerFields = WithProviders<Pick<Static<typeof RomFields>, CallerFields> & Static<typeof SimpleFields>>
type DetailedCallerFields = WithProviders<Pick<Static<typeof RomFields>, CallerFields> & Static<typeof DetailedFields>>

/** A ROM in a response: the fields that every caller gets, and the fields added for one caller. */
export interface BuiltRom<More = CallerRomView> {
  /** A JSON object without its last brace, in bytes, because a text of this length takes longer to join and to send. */
  shared: Buffer
  more: More
}
export type BuiltSimpleRom = BuiltRom<SimpleCallerFields>
export type BuiltDetailedRom = BuiltRom<DetailedCallerFields>

export const RomFiltersSchema = Type.Object({
  ...gameSchemas('filters'),
  player_counts: Texts,
  tags: Texts,
  platforms: Type.Array(Type.Integer())
}, { title: 'RomFilters' })
export type RomFilters = Static<typeof RomFiltersSchema>

const FilterCountsSchema = Type.Record(Type.String(), Type.Record(Type.String(), Count), {
  description: 'Filter of filter_values → value → number of ROMs'
})
export type FilterCounts = Static<typeof FilterCountsSchema>

function providerFields ({ all }: RomProviders): Record<string, TSchema> {
  const fields: Record<string, TSchema> = {}
  for (const { key, id, metadata, hasMetadata, progress } of all) {
    fields[`${key}_id`] = Nullable(id === 'integer' ? Type.Integer() : Type.String())
    if (progress !== null) fields[`${key}_progress`] = Nullable({ ...progress, title: `${key}_progress` })
    if (hasMetadata) fields[`${key}_metadata`] = metadata === null ? Free : Type.Partial(metadata, { title: `${key}_metadata` })
  }
  return fields
}

/**
 * Creates the schemas of ROMs with the fields of the registered providers.
 *
 * @param userFiles fields of the files that users store for ROMs
 */
export function createRomSchemas (providers: RomProviders, userFiles: TProperties) {
  const fields = { ...RomFields.properties, ...providerFields(providers) }
  return [
    Type.Object({ ...fields, ...SimpleFields.properties }, { $id: 'SimpleRom' }),
    Type.Object({ ...fields, ...userFiles, ...DetailedFields.properties }, { $id: 'DetailedRom' })
  ]
}

export const SimpleRomSchema = Type.Unsafe<BuiltSimpleRom>({ $ref: 'SimpleRom#' })
export const DetailedRomSchema = Type.Unsafe<BuiltDetailedRom>({ $ref: 'DetailedRom#' })

/** Ids as cached text, because there may be a million. Null for none. */
export interface IdList { texts: JsonPieces | null }
const idList = (description: string) => Type.Unsafe<IdList>(Type.Array(Type.Integer(), { description }))
export const IdListSchema = idList('By name')

export const RomPageSchema = Type.Object({
  items: Type.Array(SimpleRomSchema),
  total: Nullable(Count),
  limit: Type.Integer(),
  offset: Type.Integer(),
  char_index: Type.Record(Type.String(), Count, {
    description: 'First character of the sort value → offset of its first row'
  }),
  rom_id_index: idList('The ids of all matching ROMs in order'),
  filter_values: RomFiltersSchema,
  filter_counts: Type.Optional(FilterCountsSchema)
}, { title: 'RomPage' })
export type RomPage = Static<typeof RomPageSchema>

const Mark = Type.Optional(Type.Boolean())
const Points = (maximum: number) => Type.Optional(Type.Integer({ minimum: 0, maximum }))
const MarkFields = {
  is_main_sibling: Mark,
  backlogged: Mark,
  now_playing: Mark,
  hidden: Mark,
  rating: Points(10),
  difficulty: Points(10),
  completion: Points(100),
  status: Type.Optional(Nullable(StringEnum(PLAY_STATUSES)))
}
const MarksSchema = Type.Object(MarkFields, { title: 'Marks' })
export type Marks = Static<typeof MarksSchema>

/** The marks themselves, or wrapped in `data` as older apps send them. */
export const RomPropsSchema = Type.Object({
  ...MarkFields,
  data: Type.Optional(MarksSchema),
  update_last_played: Mark,
  remove_last_played: Mark
}, { title: 'RomProps' })
export const RomPropsQuery = Type.Object({
  update_last_played: Type.Boolean({ default: false, description: 'Sets last_played to now' }),
  remove_last_played: Type.Boolean({ default: false, description: 'Clears last_played' })
})
