import { type Static, Type } from '@sinclair/typebox'
import { DateTime, ID_MAX, Id, Limit, NameText, Nullable, Offset, StoredText } from '../../core/typebox.ts'

const NAME_MAX = 400
const DESCRIPTION_MAX = 65_535
const TEXT_MAX = 1_000
const PLATFORMS_MAX = 1_000

const NullableText = Nullable(Type.String())
const NullableNumber = Nullable(Type.Integer())

export const MusicTrackSchema = Type.Object({
  rom_file_id: Type.Integer({ description: 'The id of the track' }),
  rom_id: Type.Integer(),
  title: NullableText,
  artist: NullableText,
  album: NullableText,
  genre: NullableText,
  year: NullableNumber,
  track: NullableNumber,
  disc: NullableNumber,
  duration_seconds: Nullable(Type.Number()),
  has_embedded_cover: Type.Boolean(),
  is_favorite: Type.Boolean({ description: 'True if the track is one of your favourites' }),
  game_name: NullableText,
  platform_id: Type.Integer(),
  platform_slug: Type.String(),
  platform_name: Type.String(),
  stream_url: Type.String({ description: 'Path of the file below the base URL; answers range requests' }),
  cover_url: Nullable(Type.String({ description: 'Path of the picture in the file, else of the cover of the game, below the base URL' }))
}, { title: 'MusicTrack' })
export type MusicTrackView = Static<typeof MusicTrackSchema>

export const FacetValueSchema = Type.Object({
  value: Type.Union([Type.String(), Type.Integer()], { description: 'A number for years, else a text' }), count: Type.Integer()
}, { title: 'FacetValue' })
export type FacetValue = Static<typeof FacetValueSchema>

const paged = <T extends typeof MusicTrackSchema | typeof FacetValueSchema>(schema: T, title: string) => Type.Object({
  items: Type.Array(schema), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer()
}, { title })
export const TrackPageSchema = paged(MusicTrackSchema, 'MusicTrackPage')
export const FacetPageSchema = paged(FacetValueSchema, 'FacetValuePage')
/** A part of a list, and the length of the list. */
export interface ListPart<T> { items: T[], total: number }

const Text = (description: string) => Type.Optional(StoredText({ maxLength: TEXT_MAX, description }))
const Seconds = (description: string) => Type.Optional(Type.Number({ description }))
const Direction = (description: string) => StoredText({ default: '', description })

const Filters = {
  search: Text('A part of the title, artist or album, in any case'),
  artist: Text('The whole artist, in any case'),
  album: Text('The whole album, in any case'),
  genre: Text('The whole genre, in any case'),
  platform_ids: Type.Array(Id, { default: [], maxItems: PLATFORMS_MAX, description: 'Any of these platforms' }),
  min_duration: Seconds('Minimum duration in seconds'),
  max_duration: Seconds('Maximum duration in seconds')
}
const Year = Type.Optional(Type.Integer({ minimum: -ID_MAX, maximum: ID_MAX, description: 'The year in the tags' }))
const Page = { limit: Limit, offset: Offset }
const TrackOrder = {
  order_by: StoredText({ default: '', description: 'title, artist, album, duration, year, platform or added; anything else means title' }),
  order_dir: Direction('`desc`; anything else sorts ascending. Tracks without a value come last')
}

export const ListFavoritesQuery = Type.Object({ ...Filters, year: Year, ...TrackOrder, ...Page })
export const ListTracksQuery = Type.Composite([Type.Object({
  rom_id: Type.Optional(Type.Integer({ minimum: 1, maximum: ID_MAX, description: 'Tracks of this ROM' }))
}), ListFavoritesQuery])
export const ListPlaylistTracksQuery = Type.Object({
  order_by: StoredText({
    default: 'position', description: 'position, title, artist, album, duration, year, platform or added; anything else means title'
  }),
  order_dir: TrackOrder.order_dir,
  ...Page
})
export type TrackFilters = Omit<Partial<Static<typeof ListTracksQuery>>, keyof PageQuery>
export interface PageQuery { limit: number, offset: number, order_by: string, order_dir: string }

/** The fields of tracks whose values are listed. */
export type Facet = 'artist' | 'album' | 'genre' | 'year'

const FacetQuery = Type.Object({
  ...Filters,
  search: Text('A part of the value, in any case'),
  year: Year,
  order_by: StoredText({ default: '', description: '`value`; anything else sorts by count' }),
  order_dir: Direction('`asc` or `desc`; the default is ascending by value and descending by count'),
  ...Page
})
/** Returns the query of a list of values, which has no filter by the same field. */
export const facetQuery = (facet: Facet) => Type.Omit(FacetQuery, [facet])
export type FacetQuery = TrackFilters & PageQuery

export const TrackIdsSchema = Type.Object({
  rom_file_ids: Type.Array(Type.Integer(), { description: 'Repeated ids count once' })
}, { title: 'MusicTrackIds' })
export const AddedSchema = Type.Object({ added: Type.Integer({ description: 'Number of new entries' }) })
export const RemovedSchema = Type.Object({ removed: Type.Integer({ description: 'Number of removed entries' }) })

const Name = NameText({ minLength: 1, maxLength: NAME_MAX, description: 'Unique among your playlists' })
const Description = Nullable(StoredText({ maxLength: DESCRIPTION_MAX }))

export const NewPlaylistSchema = Type.Object({
  name: Name,
  description: Type.Optional(Description),
  is_public: Type.Boolean({ default: false, description: 'True if everybody may listen to it' })
}, { title: 'NewMusicPlaylist' })
export type NewPlaylist = Static<typeof NewPlaylistSchema>
export const PlaylistChangeSchema = Type.Object({
  name: Type.Optional(Nullable(Name)),
  description: Type.Optional(Description),
  is_public: Type.Optional(Nullable(Type.Boolean()))
}, { title: 'MusicPlaylistChange', description: 'Absent fields stay, and so do name and is_public if null' })
export type PlaylistChange = Static<typeof PlaylistChangeSchema>

export const MusicPlaylistSchema = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  description: NullableText,
  is_public: Type.Boolean(),
  user_id: Type.Integer(),
  owner_username: Type.String(),
  track_count: Type.Integer({ description: 'Number of tracks that you may see' }),
  created_at: DateTime,
  updated_at: DateTime
}, { title: 'MusicPlaylist' })
export type MusicPlaylistView = Static<typeof MusicPlaylistSchema>
