import { type Static, Type } from '@svc/plugin-sdk'

const Text = Type.Optional(Type.String())
const Names = Type.Optional(Type.Array(Type.String()))

/** An app of the store as `steam_metadata`; unknown fields are absent. */
export const MetadataSchema = Type.Object({
  total_rating: Type.Optional(Type.String({ description: 'Score at Metacritic, 0 to 100' })),
  first_release_date: Type.Optional(Type.Integer({ description: 'Seconds since 1970-01-01 UTC' })),
  genres: Names, companies: Names, publishers: Names, developers: Names, game_modes: Names, platforms: Names,
  controller_support: Text, metacritic_url: Text, website: Text,
  is_free: Type.Optional(Type.Boolean()), required_age: Type.Optional(Type.Integer())
})
export type Metadata = Static<typeof MetadataSchema>
