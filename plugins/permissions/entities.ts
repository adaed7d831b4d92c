import { defineEntity, p } from '@mikro-orm/core'
import { callersTrigger } from '../../core/access/caller-cache.ts'
import { columns } from '../../core/database/columns.ts'
import type { GrantAction, GrantEntity } from '../../core/access/grants.ts'
import { countChanges, statementTriggers } from '../library/entities.ts'
import { User } from '../users/entities.ts'
import { PermissionGroup } from './group-entities.ts'

/** Entities that can be hidden from users. */
export const HIDEABLE_ENTITIES = ['platforms', 'roms'] as const

/** A grant or refusal for one user, which overrides the group's. */
export const PermissionOverride = defineEntity({
  name: 'PermissionOverride',
  tableName: 'permission_overrides',
  triggers: [callersTrigger('permission_overrides', 'insert or update or delete')],
  primaryKeys: ['user', 'entity', 'action'],
  properties: {
    user: () => p.manyToOne(User).primary().deleteRule('cascade').joinColumn('user_id'),
    entity: p.text().$type<GrantEntity>().primary(),
    action: p.text().$type<GrantAction>().primary(),
    granted: p.boolean(),
    own_only: columns.flag()
  }
})

/** An object that is hidden from a user, or from the members of a group. */
export const HiddenEntity = defineEntity({
  name: 'HiddenEntity',
  tableName: 'hidden_entities',
  triggers: [countChanges('hidden_entities'), ...statementTriggers('hidden_entities', 'log_hidden_roms')],
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
