import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { callersTrigger } from '../../core/access/caller-cache.ts'
import { columns } from '../../core/database/columns.ts'
import type { GrantAction, GrantEntity } from '../../core/access/grants.ts'

/** The check runs at the end of a transaction, because no group is the default between two changes of it. */
const KEEP_DEFAULT = `create constraint trigger "permission_groups_default_kept"
  after delete or update of "is_default" on "permission_groups" deferrable initially deferred
  for each row when (old."is_default") execute function "keep_default_group"()`

const ANY_CHANGE = 'insert or update or delete'

/** A group with its members' grants. Exactly one group is the default, which applies to users without a group. */
export const PermissionGroup = defineEntity({
  name: 'PermissionGroup',
  tableName: 'permission_groups',
  indexes: [{
    name: 'permission_groups_default_unique',
    expression: 'create unique index "permission_groups_default_unique" on "permission_groups" ("is_default") where "is_default"'
  }],
  triggers: [
    { name: 'permission_groups_default_kept', timing: 'after', events: ['delete', 'update'], expression: KEEP_DEFAULT },
    callersTrigger('permission_groups', ANY_CHANGE)
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

/** A grant of a group. */
export const PermissionGrant = defineEntity({
  name: 'PermissionGrant',
  tableName: 'permission_grants',
  triggers: [callersTrigger('permission_grants', ANY_CHANGE)],
  primaryKeys: ['group', 'entity', 'action'],
  properties: {
    group: () => p.manyToOne(PermissionGroup).primary().deleteRule('cascade').joinColumn('group_id'),
    entity: p.text().$type<GrantEntity>().primary(),
    action: p.text().$type<GrantAction>().primary(),
    own_only: columns.flag()
  }
})
