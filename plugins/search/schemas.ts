import { type TSchema, Type } from '@sinclair/typebox'
import { Nullable, type Static, StoredText, StringEnum, idOf } from '../../core/typebox.ts'
import type { RomProviders } from '../roms/providers.ts'

const TERM_MAX = 500

export const SearchRomsQuery = Type.Object({
  rom_id: idOf('a ROM'),
  search_term: StoredText({ default: '', maxLength: TERM_MAX, description: "Empty: the ROM's file name without tags" }),
  search_by: Type.String({ default: 'name', maxLength: 20, description: '`name`, or `id` with the number in search_term' })
})
export type SearchRomsQuery = Static<typeof SearchRomsQuery>

export const SearchCoversQuery = Type.Object({ search_term: StoredText({ default: '', maxLength: TERM_MAX, description: 'Title of a game' }) })

export const PictureQuery = Type.Object({ url: StoredText({ maxLength: 2_000, description: 'Address of a picture in a result of a search' }) })

const SearchedGameFields = Type.Object({
  id: Type.Null({ description: 'Null, because the game is not a ROM of the library' }),
  platform_id: Type.Integer(),
  name: Type.String(),
  slug: Type.String(),
  summary: Type.String(),
  year: Nullable(Type.Integer({ description: 'Year of the first release' })),
  score: Type.Number({ description: "Similarity of the name and the ROM's file name, from 0 to 1" }),
  is_identified: Type.Boolean(),
  is_unidentified: Type.Boolean()
})
/** `<key>_id` and `<key>_url_cover` of every provider are added. */
export type SearchedGameView = Static<typeof SearchedGameFields> & Readonly<Record<string, unknown>>

/** Creates the schema of a game that providers found, with the fields of all registered providers. */
export function createSearchedGameSchema ({ all }: RomProviders) {
  const fields = Object.fromEntries(all.flatMap(({ key, id }): [string, TSchema][] => [
    [`${key}_id`, Nullable(id === 'integer' ? Type.Integer() : Type.String())], [`${key}_url_cover`, Type.String()]
  ]))
  return Type.Unsafe<SearchedGameView>(Type.Object({ ...SearchedGameFields.properties, ...fields }, { title: 'SearchedGame' }))
}

const CoverSchema = Type.Object({
  url: Type.String(),
  thumb: Type.String(),
  type: StringEnum(['static', 'animated']),
  style: Type.String(),
  author: Type.String(),
  width: Type.Integer(),
  height: Type.Integer(),
  score: Type.Integer(),
  nsfw: Type.Boolean(),
  humor: Type.Boolean(),
  epilepsy: Type.Boolean()
}, { title: 'Cover' })
export type CoverView = Static<typeof CoverSchema>

export const CoverGroupSchema = Type.Object({ name: Type.String({ description: 'Name of the game at the provider' }), resources: Type.Array(CoverSchema) }, { title: 'CoverGroup' })
export type CoverGroupView = Static<typeof CoverGroupSchema>

/** The kinds of reasons why a provider has no answer. A paused or failing one is `not_called` by later searches. */
export type SkipCode = 'not_called' | 'timeout' | 'paused' | 'refused' | 'failed' | 'no_numbers' | 'unknown_platform'

/** A provider without an answer, as listed in the header. */
export interface SkippedProvider { provider: string, code: SkipCode, reason: string, until: string | null }
