import { type Static, Type } from '@svc/plugin-sdk'

/** The site's names of the fields of our metadata. Times are in seconds on both sides, the score is out of 100. */
export const THEIR_NAMES = {
  main_story: 'comp_main', main_story_count: 'comp_main_count', main_plus_extra: 'comp_plus',
  main_plus_extra_count: 'comp_plus_count', completionist: 'comp_100', completionist_count: 'comp_100_count',
  all_styles: 'comp_all', all_styles_count: 'comp_all_count', review_score: 'review_score', review_count: 'count_review',
  popularity: 'profile_popular', completions: 'count_comp'
} as const
const FIELDS = [...Object.keys(THEIR_NAMES), 'release_year'].map((name) => [name, Type.Optional(Type.Integer())] as const)

/** A game as `hltb_metadata`; unknown fields are absent. */
export const MetadataSchema = Type.Object(Object.fromEntries(FIELDS))
export type Metadata = Static<typeof MetadataSchema>
