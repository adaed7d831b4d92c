import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { countChanges } from '../library/entities.ts'

/** A platform folder of the library. Facts that follow from the slug are looked up, not stored. */
export const Platform = defineEntity({
  name: 'Platform',
  tableName: 'platforms',
  triggers: [countChanges('platforms'), {
    name: 'keep_former',
    timing: 'before',
    events: ['delete'],
    expression: 'create trigger keep_former before delete on "platforms" for each row execute function keep_former_platform()'
  }, {
    name: 'log_platform_change',
    timing: 'after',
    events: ['update'],
    expression: 'create trigger log_platform_change after update of slug on "platforms" for each row ' +
      'when (old.slug is distinct from new.slug) execute function log_platform_change()'
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

/** A platform in one library. A platform that was never scanned counts as part of the first library. */
export const PlatformFolder = defineEntity({
  name: 'PlatformFolder',
  tableName: 'platform_folders',
  properties: {
    platform: () => p.manyToOne(Platform).primary().deleteRule('cascade').joinColumn('platform_id'),
    library_id: p.integer().primary(),
    /** The inode of the folder that contained ROMs at the last scan; null before the first one. */
    fs_inode: columns.text().nullable(),
    missing_from_fs: columns.flag()
  }
})

/**
 * A folder whose row was deleted. The database writes these rows. When the folder returns, its row gets its id again.
 */
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
