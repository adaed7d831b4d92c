import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { NameText, StoredText } from '../../core/typebox.ts'
import { RomLookupSchema } from '../matching/views.ts'
import type { RomProviders } from '../roms/providers.ts'

const ID_MAX = 200

const Givers = Type.Record(Type.String(), Type.Array(Type.String()))
export const RomSourcesSchema = Type.Object({
  fields: Givers,
  media: Givers,
  locked: Type.Array(Type.String(), {
    description: 'Field locks: values that a person set and scans keep; `unlock` of `updateRom` removes them. A provider appears by its ' +
      '`<key>_id`, and by `raw_<key>_metadata` if a person wrote its record'
  }),
  lookups: Type.Array(RomLookupSchema, {
    description: 'The lookup of the ROM at each provider, and the reason for its match or missing match'
  })
}, {
  title: 'RomSources',
  description: 'The keys of the providers of each value, most trusted first: several if the value combines several, none if it comes ' +
    'from the file name or an earlier scan'
})
export type RomSources = Static<typeof RomSourcesSchema>

const NAME_MAX = 450
const TEXT_MAX = 60_000

export const EditQuery = Type.Object({
  unmatch_metadata: Type.Boolean({
    default: false, description: 'Removes all matches and all field locks; all other fields are then ignored'
  }),
  remove_cover: Type.Boolean({ default: false, description: 'Removes the cover' }),
  unlock: Type.Array(StoredText({ maxLength: ID_MAX }), {
    default: [], maxItems: 100, description: 'Field locks to remove: names as in `locked` of `getRomSources`, or manual_metadata'
  })
})

const text = (maxLength: number, description: string) => Type.Optional(StoredText({ maxLength, description }))

const FIELDS = {
  name: Type.Optional(NameText({ maxLength: NAME_MAX, description: 'Name; empty for the name from the providers' })),
  name_sort_key: text(NAME_MAX, 'Sort key; empty to follow the name'),
  summary: text(TEXT_MAX, 'Markdown'),
  url_cover: text(2_000, 'Address of the cover; a new address is downloaded'),
  url_manual: text(2_000, 'Address of a PDF; a new address is downloaded'),
  fs_name: text(NAME_MAX, 'Renames the file or folder in the library'),
  raw_manual_metadata: text(TEXT_MAX,
    'JSON of genres, franchises, companies, game_modes, age_ratings, first_release_date (milliseconds) and youtube_video_id, which ' +
    'precede the values of providers; an object without any of them unlocks the values')
}
export type EditForm = Readonly<Partial<Record<keyof typeof FIELDS, string>> & Record<string, string | undefined>>

/** Creates the schema of the form. All other fields are ignored, because apps of other servers send some. */
export function createEditForm ({ all }: RomProviders) {
  const fields = all.flatMap(({ key, id }): [string, TSchema][] => [
    [`${key}_id`, text(ID_MAX, `Id of the game at the provider ${key}${id === 'integer' ? ', a number' : ''}; empty for none`)],
    [`raw_${key}_metadata`, text(TEXT_MAX, `JSON object: the record of the provider ${key} as \`${key}_metadata\` shows it, stored while its id is set`)]
  ])
  return Type.Unsafe<EditForm>(Type.Object({ ...FIELDS, ...Object.fromEntries(fields) }, { title: 'EditRom' }))
}
