import { type Static, Type } from '@svc/plugin-sdk'

const Count = Type.Optional(Type.Integer())
const Seconds = Type.Optional(Type.Integer({ description: 'Seconds' }))

/** A game as `hltb_metadata`; only what is known is there. */
export const MetadataSchema = Type.Object({
  main_story: Seconds,
  main_story_count: Count,
  main_plus_extra: Seconds,
  main_plus_extra_count: Count,
  completionist: Seconds,
  completionist_count: Count,
  all_styles: Seconds,
  all_styles_count: Count,
  release_year: Count,
  review_score: Type.Optional(Type.Integer({ description: '0 to 100' })),
  review_count: Count,
  popularity: Count,
  completions: Count
})
export type Metadata = Static<typeof MetadataSchema>
