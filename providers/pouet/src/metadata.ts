import { type Static, Type } from '@svc/plugin-sdk'

const Text = Type.Optional(Type.String())
const Texts = Type.Array(Type.String())

/** A production as `pouet_metadata`. */
export const MetadataSchema = Type.Object({
  types: Texts, genres: Texts, groups: Texts, companies: Texts, platforms: Texts,
  soundtrack_urls: Texts, download_urls: Texts,
  party: Type.Optional(Type.String({ description: 'Party, competition and rank; only the party if the rest is unknown' })),
  invitation: Type.Optional(Type.String({ description: 'The party to which the production is an invitation' })),
  credits: Type.Array(Type.Object({ name: Type.String(), role: Text })),
  vote_avg: Type.Optional(Type.Number({ description: 'From -1 to 1' })),
  pouet_rank: Type.Optional(Type.Integer()),
  pouet_cdc: Type.Integer({ description: 'Number of users who have it among their favourites' }),
  pouet_popularity: Type.Optional(Type.Number({ description: 'From 0 to 100' })),
  demozoo_id: Type.Optional(Type.Integer()), pouet_url: Type.String(), youtube_video_id: Text
})
export type Metadata = Static<typeof MetadataSchema>
