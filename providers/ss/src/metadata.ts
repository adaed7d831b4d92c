import { type Static, Type } from '@svc/plugin-sdk'
import { MEDIA_NAMES } from './media.ts'

const Text = Type.Union([Type.String(), Type.Null()])
const Names = Type.Array(Type.String())

/** The record stored as `ss_metadata`, with `<m>_url` for every kind of artwork. */
export const MetadataSchema = Type.Object({
  ss_score: Type.Union([Type.String({ description: '0 to 10' }), Type.Null()]),
  first_release_date: Type.Union([Type.Integer({ description: 'Seconds since 1970-01-01 UTC' }), Type.Null()]),
  alternative_names: Names,
  companies: Names,
  franchises: Names,
  game_modes: Names,
  genres: Names,
  age_ratings: Type.Array(Type.Object({ rating: Type.String(), category: Type.String() })),
  player_count: Type.String(),
  dump_regions: Type.Optional(Names),
  dump_languages: Type.Optional(Names),
  dump_tags: Type.Optional(Names),
  ...Object.fromEntries(MEDIA_NAMES.map((name) => [`${name}_url`, Text]))
})
export type Metadata = Static<typeof MetadataSchema>
