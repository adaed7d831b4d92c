import { type Static, Type } from '@svc/plugin-sdk'

const Text = Type.Optional(Type.String())

/** A game as `launchbox_metadata`. `video_path` is the host's own copy of the video. */
export const MetadataSchema = Type.Object({
  first_release_date: Type.Union([Type.Integer({ description: 'Seconds since 1970-01-01 UTC' }), Type.Null()]),
  release_type: Type.String(), youtube_video_id: Type.String(), wikipedia_url: Type.String(), esrb: Type.String(),
  max_players: Type.Integer(), community_rating_count: Type.Integer(), cooperative: Type.Boolean(),
  community_rating: Type.Number({ description: '0 to 5' }),
  genres: Type.Array(Type.String()), companies: Type.Array(Type.String()),
  images: Type.Array(Type.Object({ url: Type.String(), type: Text, region: Text })),
  video_url: Text, video_path: Text
})
export type Metadata = Static<typeof MetadataSchema>
