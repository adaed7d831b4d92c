import { type Static, Type } from '@svc/plugin-sdk'

const Text = Type.Optional(Type.String())
const Texts = Type.Array(Type.String())
const Id = Type.Optional(Type.Integer())
const Line = (description: string) => Type.Optional(Type.String({ description }))

/** A production as `demozoo_metadata`. */
export const MetadataSchema = Type.Object({
  types: Texts, genres: Texts, groups: Texts, platforms: Texts, tags: Texts, collections: Texts, download_urls: Texts,
  companies: Type.Array(Type.String(), { description: 'The groups; the authors if there are none' }),
  party: Text, party_id: Id, party_line: Line('Party, competition and rank'), invitation: Line('The party to which the production is an invitation'),
  credits: Type.Array(Type.Object({ name: Type.String(), role: Text })),
  demozoo_url: Type.String(), pouet_id: Id, pouet_url: Text, csdb_id: Id, csdb_url: Text, youtube_video_id: Text,
  first_release_date: Type.Optional(Type.Integer({ description: 'Seconds since 1970-01-01 UTC; only if the day is known' }))
})
export type Metadata = Static<typeof MetadataSchema>
