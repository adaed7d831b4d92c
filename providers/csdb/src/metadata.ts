import { type Static, Type } from '@svc/plugin-sdk'

const Text = Type.Optional(Type.String())
const Texts = Type.Array(Type.String())

/** A release as `csdb_metadata`. */
export const MetadataSchema = Type.Object({
  types: Texts, genres: Texts, groups: Texts, platforms: Texts,
  companies: Type.Array(Type.String(), { description: 'The groups; the people if there are none' }),
  credits: Type.Array(Type.Object({ name: Type.String(), role: Text })),
  party: Text,
  party_line: Type.Optional(Type.String({ description: 'Party, competition and rank' })),
  rating: Type.Optional(Type.Number({ description: 'From 0 to 10' })),
  csdb_url: Type.String(),
  download_urls: Type.Array(Type.String(), { description: 'The page of the release, then its files' }),
  first_release_date: Type.Optional(Type.Integer({
    description: 'Seconds since 1970-01-01 UTC; the first day of the month or year if the day is unknown'
  }))
})
export type Metadata = Static<typeof MetadataSchema>
