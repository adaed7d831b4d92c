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
    description: 'Field locks: what a person set and scans keep; `unlock` of `updateRom` removes them. A provider is named by its ' +
      '`<key>_id`, and by `raw_<key>_metadata` if its record was written by hand'
  }),
  lookups: Type.Array(RomLookupSchema, {
    description: 'How each provider was asked about the ROM, and why it has its match or none'
  })
}, {
  title: 'RomSources',
  description: 'The keys of the providers of each value, most trusted first: several if it combines several, none if it comes ' +
    'from the file name or an earlier scan'
})
export type RomSources = Static<typeof RomSourcesSchema>

const NAME_MAX = 450
const TEXT_MAX = 60_000

export const EditQuery = Type.Object({
  unmatch_metadata: Type.Boolean({
    default: false, description: 'Removes all matches and everything set by hand; all other fields are then ignored'
  }),
  remove_cover: Type.Boolean({ default: false, description: 'Removes the cover' }),
  unlock: Type.Array(StoredText({ maxLength: ID_MAX }), {
    default: [], maxItems: 100, description: 'Field locks to remove: names as in `locked` of `getRomSources`, or manual_metadata'
  })
})

const text = (maxLength: number, description: string) => Type.Optional(StoredText({ maxLength, description }))

const FIELDS = {
  name: Type.Optional(NameText({ maxLength: NAME_MAX, description: 'Empty: the name from the providers' })),
  name_sort_key: text(NAME_MAX, 'Sort key; empty to follow the name'),
  summary: text(TEXT_MAX, 'Markdown'),
  url_cover: text(2_000, 'Address of the cover, downloaded when this changes'),
  url_manual: text(2_000, 'Address of a PDF, downloaded when this changes'),
  fs_name: text(NAME_MAX, 'Renames the file or folder in the library'),
  raw_manual_metadata: text(TEXT_MAX,
    'JSON of genres, franchises, companies, game_modes, age_ratings, first_release_date (milliseconds) and youtube_video_id, which ' +
    'precede the values of providers; without any of them the values are unlocked')
}
export type EditForm = Readonly<Partial<Record<keyof typeof FIELDS, string>> & Record<string, string | undefined>>

/** Creates the schema of the form. All other fields are ignored, because apps of other servers send some. */
export function createEditForm ({ all }: RomProviders) {
  const fields = all.flatMap(({ key, id }): [string, TSchema][] => [
    [`${key}_id`, text(ID_MAX, `The game's id there${id === 'integer' ? ', a number' : ''}; empty for none`)],
    [`raw_${key}_metadata`, text(TEXT_MAX, 'JSON: its record, stored while its id is set')]
  ])
  return Type.Unsafe<EditForm>(Type.Object({ ...FIELDS, ...Object.fromEntries(fields) }, { title: 'EditRom' }))
}
