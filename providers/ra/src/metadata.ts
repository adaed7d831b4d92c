import { type Static, Type } from '@svc/plugin-sdk'

const Nullable = <Schema extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(schema: Schema) =>
  Type.Union([schema, Type.Null()])
const Text = Nullable(Type.String())
const Count = Nullable(Type.Integer())

const AchievementSchema = Type.Object({
  ra_id: Type.Integer(),
  title: Text,
  description: Text,
  points: Count,
  num_awarded: Count,
  num_awarded_hardcore: Count,
  badge_id: Text,
  badge_url: Text,
  badge_url_lock: Text,
  display_order: Count,
  type: Text
})
export type Achievement = Static<typeof AchievementSchema>

/** The record stored as `ra_metadata`. */
export const MetadataSchema = Type.Object({
  first_release_date: Nullable(Type.Integer({ description: 'Seconds since 1970-01-01 UTC' })),
  genres: Type.Array(Type.String()),
  companies: Type.Array(Type.String()),
  achievements: Type.Array(AchievementSchema)
})
export type Metadata = Static<typeof MetadataSchema>
