import { type Static, Type } from '@svc/plugin-sdk'

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Names = Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()]))

/** An entry as `gamelist_metadata`: `<m>_url` is the file in the library, `<m>_path` the host's own copy. */
export const GamelistMetadataSchema = Type.Object({
  rating: Type.Optional(Type.Union([Type.Number({ description: '0 to 1' }), Type.Null()])),
  first_release_date: Type.Optional(Type.Union([Type.String({ description: '`YYYYMMDDTHHMMSS`' }), Type.Null()])),
  sort_name: Text,
  player_count: Text,
  md5_hash: Text,
  companies: Names,
  franchises: Names,
  genres: Names,
  bezel_url: Text,
  box2d_url: Text,
  box2d_back_url: Text,
  box3d_url: Text,
  fanart_url: Text,
  image_url: Text,
  manual_url: Text,
  marquee_url: Text,
  miximage_url: Text,
  miximage_v2_url: Text,
  physical_url: Text,
  screenshot_url: Text,
  thumbnail_url: Text,
  title_screen_url: Text,
  video_url: Text,
  bezel_path: Text,
  box2d_back_path: Text,
  box3d_path: Text,
  fanart_path: Text,
  miximage_path: Text,
  miximage_v2_path: Text,
  physical_path: Text,
  marquee_path: Text,
  title_screen_path: Text,
  video_path: Text
})
export type GamelistMetadata = Static<typeof GamelistMetadataSchema>
