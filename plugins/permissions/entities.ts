import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import type { GrantAction, GrantEntity } from '../../core/access/grants.ts'
import { User } from '../users/entities.ts'

/** Kinds of things that can be hidden from members. */
export const HIDEABLE_ENTITIES = ['platforms', 'roms'] as const

/** At the end of a transaction: between the old default and the new one there is none. */
const KEEP_DEFAULT = `create constraint trigger "permission_groups_default_kept"
  after delete or update of "is_default" on "permission_groups" deferrable initially deferred
  for each row when (old."is_default") execute function "keep_default_group"()`

/** What its members may do. Exactly one group is the default: that of members without one. */
export const PermissionGroup = defineEntity({
  name: 'PermissionGroup',
  tableName: 'permission_groups',
  indexes: [{
    name: 'permission_groups_default_unique',
    expression: 'create unique index "permission_groups_default_unique" on "permission_groups" ("is_default") where "is_default"'
  }],
  triggers: [{ name: 'permission_groups_default_kept', timing: 'after', events: ['delete', 'update'], expression: KEEP_DEFAULT }],
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
  primaryKeys: ['group', 'entity', 'action'],
  properties: {
    group: () => p.manyToOne(PermissionGroup).primary().deleteRule('cascade').joinColumn('group_id'),
    entity: p.text().$type<GrantEntity>().primary(),
    action: p.text().$type<GrantAction>().primary(),
    own_only: columns.flag()
  }
})

/** One user's own leave or lack of it, whatever the group says. */
export const PermissionOverride = defineEntity({
  name: 'PermissionOverride',
  tableName: 'permission_overrides',
  primaryKeys: ['user', 'entity', 'action'],
  properties: {
    user: () => p.manyToOne(User).primary().deleteRule('cascade').joinColumn('user_id'),
    entity: p.text().$type<GrantEntity>().primary(),
    action: p.text().$type<GrantAction>().primary(),
    granted: p.boolean(),
    own_only: columns.flag()
  }
})

/** Something that a user, or the members of a group, do not see. */
export const HiddenEntity = defineEntity({
  name: 'HiddenEntity',
  tableName: 'hidden_entities',
  properties: {
    id: columns.id(),
    entity: p.text().$type<typeof HIDEABLE_ENTITIES[number]>(),
    entity_id: p.integer(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id').nullable().index(),
    group: () => p.manyToOne(PermissionGroup).deleteRule('cascade').joinColumn('group_id').nullable().index()
  },
  indexes: [{
    name: 'hidden_entities_entity_entity_id_user_id_group_id_unique',
    expression: 'create unique index "hidden_entities_entity_entity_id_user_id_group_id_unique" on "hidden_entities" ' +
      '("entity", "entity_id", "user_id", "group_id") nulls not distinct'
  }]
})
