import { type Static, Type } from '@svc/plugin-sdk'

/** A game as `launchbox_metadata`. `video_path` is the host's own copy of the video. */
export const MetadataSchema = Type.Object({
  first_release_date: Type.Union([Type.Integer({ description: 'Seconds since 1970-01-01 UTC' }), Type.Null()]),
  max_players: Type.Integer(),
  release_type: Type.String(),
  cooperative: Type.Boolean(),
  youtube_video_id: Type.String(),
  community_rating: Type.Number({ description: '0 to 5' }),
  community_rating_count: Type.Integer(),
  wikipedia_url: Type.String(),
  esrb: Type.String(),
  genres: Type.Array(Type.String()),
  companies: Type.Array(Type.String()),
  images: Type.Array(Type.Object({
    url: Type.String(), type: Type.Optional(Type.String()), region: Type.Optional(Type.String())
  })),
  video_url: Type.Optional(Type.String()),
  video_path: Type.Optional(Type.String())
})
export type Metadata = Static<typeof MetadataSchema>
