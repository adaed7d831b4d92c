import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { NameText, StoredText } from '../../core/typebox.ts'
import type { RomProviders } from '../roms/providers.ts'

const ID_MAX = 200

const Givers = Type.Record(Type.String(), Type.Array(Type.String()))
export const RomSourcesSchema = Type.Object({
  fields: Givers,
  media: Givers,
  locked: Type.Array(Type.String(), {
    description: 'What a person set and scans leave alone; `unlock` of `updateRom` gives it back. A provider is named by its ' +
      '`<key>_id`, and by `raw_<key>_metadata` where its record was written by hand'
  })
}, {
  title: 'RomSources',
  description: 'The keys of the providers that each value came from, most trusted first: several where it is made of ' +
    'several, none where it comes from the file name or from before'
})
export type RomSources = Static<typeof RomSourcesSchema>

const NAME_MAX = 450
const TEXT_MAX = 60_000

export const EditQuery = Type.Object({
  unmatch_metadata: Type.Boolean({
    default: false, description: 'Forget what all providers said and what was set by hand; everything else is then ignored'
  }),
  remove_cover: Type.Boolean({ default: false, description: 'Have no cover' }),
  unlock: Type.Array(StoredText({ maxLength: ID_MAX }), {
    default: [], maxItems: 100, description: 'Give what was set by hand back to scans: names as in `locked` of `getRomSources`, or manual_metadata'
  })
})

const text = (maxLength: number, description: string) => Type.Optional(StoredText({ maxLength, description }))

const FIELDS = {
  name: Type.Optional(NameText({ maxLength: NAME_MAX, description: 'Empty to be called as the sources say' })),
  name_sort_key: text(NAME_MAX, 'What it is sorted by; empty to follow the name'),
  summary: text(TEXT_MAX, 'Markdown'),
  url_cover: text(2_000, 'Where a cover is fetched from when this changes'),
  url_manual: text(2_000, 'Where a PDF is fetched from when this changes'),
  fs_name: text(NAME_MAX, 'Renames the file or folder in the library'),
  raw_manual_metadata: text(TEXT_MAX,
    'JSON of genres, franchises, companies, game_modes, age_ratings, first_release_date (milliseconds) and youtube_video_id, which ' +
    'go before what the sources say; without any of them they are given back')
}
export type EditForm = Readonly<Partial<Record<keyof typeof FIELDS, string>> & Record<string, string | undefined>>

/** Any other field is left aside, as apps of other servers send some. */
export function createEditForm ({ all }: RomProviders) {
  const fields = all.flatMap(({ key, id }): [string, TSchema][] => [
    [`${key}_id`, text(ID_MAX, `The game's id there${id === 'integer' ? ', a number' : ''}; empty for none`)],
    [`raw_${key}_metadata`, text(TEXT_MAX, 'JSON: the record to keep of it, while its id is set')]
  ])
  return Type.Unsafe<EditForm>(Type.Object({ ...FIELDS, ...Object.fromEntries(fields) }, { title: 'EditRom' }))
}
