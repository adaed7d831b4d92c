import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { announcesCallers } from '../../core/access/caller-cache.ts'
import { columns } from '../../core/database/columns.ts'
import type { GrantAction, GrantEntity } from '../../core/access/grants.ts'

/** At the end of a transaction: between the old default and the new one there is none. */
const KEEP_DEFAULT = `create constraint trigger "permission_groups_default_kept"
  after delete or update of "is_default" on "permission_groups" deferrable initially deferred
  for each row when (old."is_default") execute function "keep_default_group"()`

const ANY_CHANGE = 'insert or update or delete'

/** What its members may do. Exactly one group is the default: that of members without one. */
export const PermissionGroup = defineEntity({
  name: 'PermissionGroup',
  tableName: 'permission_groups',
  indexes: [{
    name: 'permission_groups_default_unique',
    expression: 'create unique index "permission_groups_default_unique" on "permission_groups" ("is_default") where "is_default"'
  }],
  triggers: [
    { name: 'permission_groups_default_kept', timing: 'after', events: ['delete', 'update'], expression: KEEP_DEFAULT },
    announcesCallers('permission_groups', ANY_CHANGE)
  ],
  properties: {
    id: columns.id(),
    name: columns.text().unique(),
    description: columns.text().default(''),
    is_default: columns.flag(),
    is_system: columns.flag(),
    color: columns.text().nullable(),
    age_limit: p.integer().nullable(),
    hide_unrated_roms: columns.flag(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type PermissionGroup = InferEntity<typeof PermissionGroup>

/** Leave that a group gives. */
export const PermissionGrant = defineEntity({
  name: 'PermissionGrant',
  tableName: 'permission_grants',
  triggers: [announcesCallers('permission_grants', ANY_CHANGE)],
  primaryKeys: ['group', 'entity', 'action'],
  properties: {
    group: () => p.manyToOne(PermissionGroup).primary().deleteRule('cascade').joinColumn('group_id'),
    entity: p.text().$type<GrantEntity>().primary(),
    action: p.text().$type<GrantAction>().primary(),
    own_only: columns.flag()
  }
})
