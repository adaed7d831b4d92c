import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { countChanges } from '../library/entities.ts'

/** A platform folder of the library. Facts that follow from the slug are not stored but looked up. */
export const Platform = defineEntity({
  name: 'Platform',
  tableName: 'platforms',
  triggers: [countChanges('platforms'), {
    name: 'keep_former',
    timing: 'before',
    events: ['delete'],
    expression: 'create trigger keep_former before delete on "platforms" for each row execute function keep_former_platform()'
  }],
  properties: {
    id: columns.id(),
    slug: columns.text().index(),
    fs_slug: columns.text().unique(),
    name: columns.text(),
    custom_name: columns.text().nullable(),
    description: columns.text().nullable(),
    missing_from_fs: columns.flag(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type Platform = InferEntity<typeof Platform>

/** A platform in one library. One that was never scanned is taken to lie in the first. */
export const PlatformFolder = defineEntity({
  name: 'PlatformFolder',
  tableName: 'platform_folders',
  properties: {
    platform: () => p.manyToOne(Platform).primary().deleteRule('cascade').joinColumn('platform_id'),
    library_id: p.integer().primary(),
    /** The inode of the folder that held ROMs when it was last scanned; null until then. */
    fs_inode: columns.text().nullable(),
    missing_from_fs: columns.flag()
  }
})

/** A folder whose row was deleted. Written by the database; when the folder is back, the row has its id again. */
export const FormerPlatform = defineEntity({
  name: 'FormerPlatform',
  tableName: 'former_platforms',
  properties: {
    fs_slug: columns.text().primary(),
    id: p.integer(),
    custom_name: columns.text().nullable(),
    description: columns.text().nullable(),
    deleted_at: columns.createdAt()
  }
})
