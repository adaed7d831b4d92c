import { type TSchema, Type } from '@sinclair/typebox'
import { StoredText } from '../../core/typebox.ts'
import type { RomProviders } from '../roms/providers.ts'

const ID_MAX = 200

const Givers = Type.Record(Type.String(), Type.Array(Type.String()))
export const RomSourcesSchema = Type.Object({
  fields: Givers,
  media: Givers
}, {
  description: 'The keys of the providers that each value came from, most trusted first: several where it is made of ' +
    'several, none where it comes from the file name or from before'
})

export const MatchQuery = Type.Object({
  unmatch_metadata: Type.Boolean({ default: false, description: 'Forget what all providers said; the form is then ignored' })
})

/** `<key>_id` of every provider. Any other field is refused rather than lost. */
export function createMatchForm ({ all }: RomProviders) {
  const fields = Object.fromEntries(all.map(({ key, id }): [string, TSchema] => [`${key}_id`, Type.Optional(StoredText({
    maxLength: ID_MAX, description: `The game's id there${id === 'integer' ? ', a number' : ''}; empty for none`
  }))]))
  return Type.Unsafe<Readonly<Record<string, string | undefined>>>(
    Type.Object(fields, { additionalProperties: false }))
}
