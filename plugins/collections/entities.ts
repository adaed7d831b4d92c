import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { countChanges } from '../library/entities.ts'
import { Rom } from '../roms/entities.ts'
import { User } from '../users/entities.ts'

const common = () => ({
  id: columns.id(),
  user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id'),
  name: columns.text(),
  description: columns.text().default(''),
  is_public: columns.flag(),
  created_at: columns.createdAt(),
  updated_at: columns.updatedAt()
})

/** A list of ROMs that a user selected by hand. */
export const Collection = defineEntity({
  name: 'Collection',
  tableName: 'collections',
  triggers: [countChanges('collections', 'collections')],
  uniques: [{ properties: ['user', 'name'] }],
  properties: {
    ...common(),
    is_favorite: columns.flag(),
    url_cover: columns.text().nullable(),
    path_cover_small: columns.text().nullable(),
    path_cover_large: columns.text().nullable()
  }
})
export type Collection = InferEntity<typeof Collection>

export const CollectionRom = defineEntity({
  name: 'CollectionRom',
  tableName: 'collection_roms',
  triggers: [countChanges('collection_roms', 'collections')],
  primaryKeys: ['collection', 'rom'],
  properties: {
    collection: () => p.manyToOne(Collection).primary().deleteRule('cascade').joinColumn('collection_id'),
    /** The ROM may be absent from the library. It is a member again when it returns. */
    rom: () => p.manyToOne(Rom).primary().createForeignKeyConstraint(false).joinColumn('rom_id').index()
  }
})

/** A stored filter; its members are the ROMs that the filter finds. */
export const SmartCollection = defineEntity({
  name: 'SmartCollection',
  tableName: 'smart_collections',
  triggers: [countChanges('smart_collections', 'collections')],
  uniques: [{ properties: ['user', 'name'] }],
  properties: {
    ...common(),
    filter_criteria: p.json<Record<string, unknown>>()
  }
})
