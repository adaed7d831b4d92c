import { type Static, Type } from '@svc/plugin-sdk'

const Texts = Type.Array(Type.String())
const Rating = Type.Union([Type.String({ description: '0 to 100 with two decimals' }), Type.Null()])

const PlatformSchema = Type.Object({ igdb_id: Type.Integer(), name: Type.String() })

const RelatedGameSchema = Type.Object({
  id: Type.Integer(), name: Type.String(), slug: Type.String(), type: Type.String(), cover_url: Type.String()
})
const RelatedGames = Type.Array(RelatedGameSchema)
export type RelatedGame = Static<typeof RelatedGameSchema>

const MultiplayerModeSchema = Type.Object({
  campaigncoop: Type.Boolean(),
  dropin: Type.Boolean(),
  lancoop: Type.Boolean(),
  offlinecoop: Type.Boolean(),
  offlinecoopmax: Type.Integer(),
  offlinemax: Type.Integer(),
  onlinecoop: Type.Boolean(),
  onlinecoopmax: Type.Integer(),
  onlinemax: Type.Integer(),
  splitscreen: Type.Boolean(),
  splitscreenonline: Type.Boolean(),
  platform: Type.Union([PlatformSchema, Type.Null()])
})
export type MultiplayerMode = Static<typeof MultiplayerModeSchema>

/** The stored fields of a game as `igdb_metadata`. */
export const MetadataSchema = Type.Object({
  total_rating: Rating,
  aggregated_rating: Rating,
  first_release_date: Type.Union([Type.Integer({ description: 'Seconds since 1970-01-01 UTC' }), Type.Null()]),
  youtube_video_id: Type.Union([Type.String(), Type.Null()]),
  genres: Texts,
  franchises: Texts,
  alternative_names: Texts,
  collections: Texts,
  companies: Texts,
  game_modes: Texts,
  age_ratings: Type.Array(Type.Object({
    rating: Type.String(), category: Type.String(), rating_cover_url: Type.String()
  })),
  platforms: Type.Array(PlatformSchema),
  multiplayer_modes: Type.Array(MultiplayerModeSchema),
  player_count: Type.String(),
  expansions: RelatedGames,
  dlcs: RelatedGames,
  remasters: RelatedGames,
  remakes: RelatedGames,
  expanded_games: RelatedGames,
  ports: RelatedGames,
  similar_games: RelatedGames
})
export type Metadata = Static<typeof MetadataSchema>
