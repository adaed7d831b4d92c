import { type Static, Type } from '@sinclair/typebox'
import { ID_MAX, Id, Limit, Offset, StoredText, StringEnum, idOf } from '../../../core/typebox.ts'
import { DUMP_STATUSES } from '../entities.ts'

const LIST_MAX = 1_000
const TEXT_MAX = 1_000

const Flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const PageExtra = (name: string) => Type.Boolean({ default: true, description: `False leaves ${name} empty` })
const Texts = (description: string) =>
  Type.Array(StoredText({ maxLength: TEXT_MAX }), { default: [], maxItems: LIST_MAX, description })
const IdOf = (description: string) => Type.Integer({ minimum: 1, maximum: ID_MAX, description })
const Ids = Type.Array(Id, { default: [], maxItems: LIST_MAX, description: 'Only of these platforms' })
const Logic = Type.String({ default: 'any', description: '`any`, `all` or `none` of the values; anything else means any' })
const Old = (name: string) => Type.Optional(StoredText({
  maxLength: TEXT_MAX, deprecated: true, description: `One value of ${name}, which older apps send`
}))

export const ScopeQuery = Type.Object({
  platform_ids: Ids,
  library_ids: Type.Array(Id, { default: [], maxItems: LIST_MAX, description: 'Only of these libraries' }),
  platform_id: Type.Optional(idOf('a platform')),
  collection_id: Type.Optional(IdOf('Id of a plain collection of yours, or of a public one')),
  virtual_collection_id: Type.Optional(Type.String({ maxLength: TEXT_MAX, description: 'Id of a virtual collection' })),
  smart_collection_id: Type.Optional(IdOf('Id of a smart collection of yours, or of a public one; its filter is applied with your rights'))
})
export type ScopeQuery = Static<typeof ScopeQuery>

const SCOPE = Object.keys(ScopeQuery.properties) as (keyof ScopeQuery)[]
/** Returns the part of a query that selects a part of the library. */
export const pickScope = (query: ScopeQuery): ScopeQuery =>
  Object.fromEntries(SCOPE.map((name) => [name, query[name]])) as ScopeQuery

export const ListRomsQuery = Type.Object({
  limit: Limit,
  offset: Offset,
  with_total: PageExtra('total'),
  with_char_index: PageExtra('char_index'),
  with_filter_values: Type.Boolean({
    default: true,
    description: 'False leaves filter_values empty; after a change of a very large library they are empty until the server has calculated them'
  }),
  with_filter_counts: Type.Optional(Type.Boolean({
    description: 'True adds filter_counts: the number of ROMs of each value in filter_values. Absent for a part of the library other than platforms'
  })),
  with_rom_id_index: PageExtra('rom_id_index'),
  with_files: Type.Boolean({ default: false, description: "Fills every item's files" }),
  order_by: Type.String({
    default: '',
    description: 'A column of ROMs, `<provider>_id`, a number of a provider such as `hltb_metadata.main_story`, or one of your marks ' +
      '(which lists only marked ROMs); anything else means name'
  }),
  order_dir: Type.String({ default: 'asc', description: '`desc`; anything else sorts ascending' }),
  search_term: StoredText({
    default: '',
    maxLength: TEXT_MAX,
    description: 'Words that all occur in the name or file name, with `|` between alternatives; or the CRC-32, MD5 or SHA-1 of a file'
  }),
  ...ScopeQuery.properties,
  matched: Flag('Known to a metadata provider'),
  favorite: Flag('In a favourite list of yours'),
  duplicate: Flag('Has siblings'),
  last_played: Flag('You played it'),
  playable: Flag('Its platform can be played in a browser'),
  missing: Flag('Missing from disk'),
  has_ra: Flag('Has a RetroAchievements id'),
  has_saves: Flag('Has saves of yours, or public ones of others'),
  has_states: Flag('Has states of yours, or public ones of others'),
  verified: Flag('Its hashes are in a database of known good dumps, or in a DAT file as a good dump'),
  has_soundtrack: Flag('Has soundtrack files'),
  group_by_meta_id: Type.Boolean({ default: false, description: 'Lists one ROM of every group of siblings' }),
  updated_after: Type.Optional(Type.String({ format: 'date-time', description: 'Only ROMs changed after this time' })),
  genres: Texts('Genres; genres_logic decides how several are combined, as for each of the following lists'),
  franchises: Texts('Franchises'),
  collections: Texts('Collections of the metadata providers'),
  companies: Texts('Companies'),
  age_ratings: Texts('Age ratings'),
  regions: Texts('Regions of the file name'),
  languages: Texts('Languages of the file name'),
  tags: Texts('Other tags of the file name'),
  player_counts: Texts('Exact player counts'),
  dump_statuses: Type.Array(StringEnum(DUMP_STATUSES), {
    default: [], maxItems: LIST_MAX, description: 'Results of the comparison with DAT files, any of them'
  }),
  statuses: Texts('Your marks: incomplete, finished, completed_100, retired, never_playing, now_playing, backlogged, hidden'),
  metadata_providers: Texts('Keys of providers with a match; unknown keys are ignored'),
  genres_logic: Logic,
  franchises_logic: Logic,
  collections_logic: Logic,
  companies_logic: Logic,
  age_ratings_logic: Logic,
  regions_logic: Logic,
  languages_logic: Logic,
  tags_logic: Logic,
  player_counts_logic: Logic,
  statuses_logic: Logic,
  metadata_providers_logic: Logic,
  selected_genre: Old('genres'),
  selected_franchise: Old('franchises'),
  selected_collection: Old('collections'),
  selected_company: Old('companies'),
  selected_age_rating: Old('age_ratings'),
  selected_region: Old('regions'),
  selected_language: Old('languages'),
  selected_status: Old('statuses')
})
export type ListRomsQuery = Static<typeof ListRomsQuery>

const OLD_NAMES = {
  genres: 'selected_genre',
  franchises: 'selected_franchise',
  collections: 'selected_collection',
  companies: 'selected_company',
  age_ratings: 'selected_age_rating',
  regions: 'selected_region',
  languages: 'selected_language',
  statuses: 'selected_status'
} as const

/** The old names of parameters. */
export const OLD_PARAMETERS = Object.values(OLD_NAMES)

/** Merges values that older apps send under old names into the fields of the query. */
export function withOldNames (query: ListRomsQuery): ListRomsQuery {
  const renamed = { ...query }
  for (const name of Object.keys(OLD_NAMES) as (keyof typeof OLD_NAMES)[]) {
    const value = query[OLD_NAMES[name]]
    if (value !== undefined && value !== '') renamed[name] = [...query[name], value]
  }
  return renamed
}
