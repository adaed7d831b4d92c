import { type Static, Type } from '@sinclair/typebox'
import { DateTime, LIMIT_MAX, NameText, Nullable, StoredText } from '../../core/typebox.ts'
import { VIRTUAL_TYPES } from '../roms/virtual-collections.ts'

const NAME_MAX = 400
const TEXT_MAX = 65_536
const URL_MAX = 2_000

const Addresses = (description: string) => Type.Array(Type.String(), { description })
const Address = Nullable(Type.String({ description: 'Path below the base URL of the server' }))

const CommonFields = {
  name: Type.String(),
  description: Type.String(),
  rom_ids: Type.Array(Type.Integer(), { description: 'Members that you see, in no guaranteed order' }),
  rom_count: Type.Integer({ minimum: 0 }),
  path_cover_small: Address,
  path_cover_large: Address,
  path_covers_small: Addresses('Small covers of members that you see'),
  path_covers_large: Addresses('Large covers of members that you see'),
  is_public: Type.Boolean(),
  is_favorite: Type.Boolean(),
  is_virtual: Type.Boolean(),
  is_smart: Type.Boolean(),
  created_at: DateTime,
  updated_at: DateTime
}
const OwnedFields = { id: Type.Integer(), user_id: Type.Integer(), owner_username: Type.String() }

export const CollectionSchema = Type.Object({
  ...CommonFields, ...OwnedFields, url_cover: Nullable(Type.String({ description: 'Address from which the cover was downloaded' }))
}, { title: 'Collection' })
export type CollectionView = Static<typeof CollectionSchema>

export const SmartCollectionSchema = Type.Object({
  ...CommonFields,
  ...OwnedFields,
  filter_criteria: Type.Object({}, { additionalProperties: true }),
  filter_summary: Type.String({ description: 'The criteria as JSON text' })
}, { title: 'SmartCollection' })
export type SmartCollectionView = Static<typeof SmartCollectionSchema>

export const VirtualCollectionSchema = Type.Object({ ...CommonFields, id: Type.String(), type: Type.String() }, { title: 'VirtualCollection' })
export type VirtualCollectionView = Static<typeof VirtualCollectionSchema>

export const ListCollectionsQuery = Type.Object({
  updated_after: Type.Optional(Type.String({ format: 'date-time', description: 'Only collections changed after this time' }))
})

const Public = Type.Optional(Type.Boolean({ description: 'True if everybody may see the collection; new collections are private by default' }))
export const CreateCollectionQuery = Type.Object({
  is_public: Public, is_favorite: Type.Optional(Type.Boolean({ description: 'True if the collection is a list of your favourites' }))
})
export const UpdateCollectionQuery = Type.Object({
  is_public: Public,
  remove_cover: Type.Boolean({ default: false, description: 'Deletes the cover' }),
  keep_roms: Type.Boolean({ default: false, description: 'Keeps all members; `rom_ids` is not read' })
})
export const SmartCollectionQuery = Type.Object({ is_public: Public })

const FormFields = {
  name: Type.Optional(NameText({ maxLength: NAME_MAX, description: 'Unique among your collections of this kind' })),
  description: Type.Optional(StoredText({ maxLength: TEXT_MAX }))
}
const CoverFields = {
  url_cover: Type.Optional(StoredText({ maxLength: URL_MAX, description: 'Address of a picture that the server downloads' })),
  artwork: Type.Optional(Type.Unsafe<unknown>({ description: 'The cover: a PNG, JPEG, WebP or GIF picture' }))
}
export const CreateCollectionForm = Type.Object({ ...FormFields, ...CoverFields }, { title: 'CreateCollection' })
export const UpdateCollectionForm = Type.Object({
  ...FormFields,
  ...CoverFields,
  rom_ids: Type.Optional(Type.Unsafe<unknown>({ description: 'Required without `keep_roms`: a JSON array of the ids of all members' }))
}, { title: 'UpdateCollection' })
export type CollectionForm = Static<typeof UpdateCollectionForm>

export const SmartCollectionForm = Type.Object({
  ...FormFields,
  filter_criteria: Type.Optional(StoredText({
    maxLength: TEXT_MAX, description: 'A JSON object of filters of `GET /api/roms`, with `order_by` and `order_dir`'
  }))
}, { title: 'SmartCollectionFilter' })
export type SmartCollectionForm = Static<typeof SmartCollectionForm>

export const RomIdsSchema = Type.Object({ rom_ids: Type.Array(Type.Integer(), { description: 'Ids without a ROM are ignored' }) }, { title: 'RomIds' })

const WithRomIds = Type.Optional(Type.Boolean({
  description: 'False for empty `rom_ids`, true for all; by default, `rom_ids` are empty if the response would have more than 250,000'
}))
export const VirtualCollectionsQuery = Type.Object({
  type: StoredText({ description: `One of ${[...Object.keys(VIRTUAL_TYPES), 'all'].join(', ')}` }),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: LIMIT_MAX, description: 'Maximum number of collections, in the order of names' })),
  with_rom_ids: WithRomIds
})
export const VirtualCollectionQuery = Type.Object({ with_rom_ids: WithRomIds })
