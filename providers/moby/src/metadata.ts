import { type Static, Type } from '@svc/plugin-sdk'

/** The stored fields of a game as `moby_metadata`. */
export const MetadataSchema = Type.Object({
  moby_score: Type.Union([Type.String({ description: '0 to 10' }), Type.Null()]),
  genres: Type.Array(Type.String()),
  alternate_titles: Type.Array(Type.String()),
  platforms: Type.Array(Type.Object({ moby_id: Type.Integer(), name: Type.String() }))
})
export type Metadata = Static<typeof MetadataSchema>
