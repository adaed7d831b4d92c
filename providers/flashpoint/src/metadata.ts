import { type Static, Type } from '@svc/plugin-sdk'

const Text = Type.Union([Type.String(), Type.Null()])

/** The stored fields of a game as `flashpoint_metadata`. */
export const MetadataSchema = Type.Object({
  franchises: Type.Array(Type.String()),
  companies: Type.Array(Type.String()),
  genres: Type.Array(Type.String()),
  game_modes: Type.Array(Type.String()),
  first_release_date: Type.String({ description: 'Seconds since 1970-01-01 UTC; empty when the day is not known' }),
  source: Text,
  status: Text,
  version: Text,
  language: Text,
  notes: Text
})
export type Metadata = Static<typeof MetadataSchema>
