import { type Static, Type } from '@sinclair/typebox'
import { GRANT_ACTIONS, GRANT_ENTITIES } from '../../core/access/grants.ts'
import { Id, Nullable, NameText, StoredText, StringEnum } from '../../core/typebox.ts'
import { ACTION_KEYS } from './actions.ts'
import { HIDEABLE_ENTITIES } from './entities.ts'

const AgeLimit = Type.Integer({ minimum: 0, maximum: 21, description: 'Years' })
const Color = Type.String({ pattern: '^#([0-9a-fA-F]{6}|[0-9a-fA-F]{8})$', description: '#rrggbb or #rrggbbaa' })
const Name = NameText({ minLength: 1, maxLength: 255 })
const Description = StoredText({ maxLength: 1000 })

export const GrantSchema = Type.Object({
  entity: StringEnum(GRANT_ENTITIES), action: StringEnum(GRANT_ACTIONS),
  own_only: Type.Boolean({ default: false, description: "Applies only to the user's own objects" })
}, { title: 'Grant' })
export const OverrideSchema = Type.Object({
  entity: StringEnum(GRANT_ENTITIES), action: StringEnum(GRANT_ACTIONS), granted: Type.Boolean(),
  own_only: Type.Boolean({ default: false })
}, { title: 'Override' })
/** The wire form of a grant in a request: an absent field means false. */
const OwnOnly = Type.Optional(Type.Boolean({ default: false, description: "Applies only to the user's own objects" }))
const GivenGrantSchema = Type.Object({ ...GrantSchema.properties, own_only: OwnOnly }, { title: 'GivenGrant' })
const GivenOverrideSchema = Type.Object({ ...OverrideSchema.properties, own_only: OwnOnly }, { title: 'GivenOverride' })
export type GivenGrant = Static<typeof GivenGrantSchema>
export const HiddenSchema = Type.Object({ entity: StringEnum(HIDEABLE_ENTITIES), entity_id: Type.Integer() }, { title: 'Hidden' })
export type HiddenView = Static<typeof HiddenSchema>

/** The caller's permissions. */
export const PermissionsSchema = Type.Object({
  is_admin: Type.Boolean(),
  grants: Type.Array(Type.Object({
    action: StringEnum(ACTION_KEYS),
    scope: Type.Object({ kind: StringEnum(['global', 'platform', 'collection', 'rom']), id: Nullable(Type.Integer()) })
  })),
  hidden: Type.Object({ platforms: Type.Array(Type.Integer()), roms: Type.Array(Type.Integer()) }, {
    description: 'Empty, because only administrators may learn the ids of hidden objects'
  })
}, { title: 'Permissions' })

export const CatalogSchema = Type.Object({
  entities: Type.Array(StringEnum(GRANT_ENTITIES)), actions: Type.Array(StringEnum(GRANT_ACTIONS))
}, { title: 'Catalog' })

export const GroupSchema = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  description: Type.String(),
  is_default: Type.Boolean({ description: 'Applies to users without a group' }),
  is_system: Type.Boolean({ description: 'True if the server created the group' }),
  color: Nullable(Type.String()),
  grants: Type.Array(GrantSchema),
  member_count: Type.Integer(),
  hidden: Type.Array(HiddenSchema),
  age_limit: Nullable(AgeLimit),
  hide_unrated_roms: Type.Boolean()
}, { title: 'Group' })
export type GroupView = Static<typeof GroupSchema>

const Grants = Type.Array(GivenGrantSchema, { maxItems: GRANT_ENTITIES.length * GRANT_ACTIONS.length })

export const CreateGroupSchema = Type.Object({
  name: Name,
  description: Type.Optional(Description),
  is_default: Type.Optional(Type.Boolean()),
  color: Type.Optional(Nullable(Color)),
  grants: Type.Optional(Grants),
  age_limit: Type.Optional(Nullable(AgeLimit)),
  hide_unrated_roms: Type.Optional(Type.Boolean())
}, { title: 'CreateGroup' })
export type CreateGroup = Static<typeof CreateGroupSchema>

const SetAge = Type.Optional(Type.Boolean({ description: 'True to change age_limit and hide_unrated_roms' }))

/** The fields of an update; absent or null fields do not change. */
export const UpdateGroupSchema = Type.Object({
  name: Type.Optional(Nullable(Name)),
  description: Type.Optional(Nullable(Description)),
  is_default: Type.Optional(Nullable(Type.Boolean())),
  color: Type.Optional(Nullable(Color)),
  grants: Type.Optional(Nullable(Grants)),
  set_age_settings: SetAge,
  age_limit: Type.Optional(Nullable(AgeLimit)),
  hide_unrated_roms: Type.Optional(Nullable(Type.Boolean()))
}, { title: 'UpdateGroup' })
export type UpdateGroup = Static<typeof UpdateGroupSchema>

export const UserRulesSchema = Type.Object({
  user_id: Type.Integer(),
  permission_group_id: Nullable(Type.Integer()),
  overrides: Type.Array(OverrideSchema),
  hidden: Type.Array(HiddenSchema),
  age_limit: Nullable(AgeLimit),
  hide_unrated_roms: Nullable(Type.Boolean())
}, { title: 'UserRules' })
export type UserRulesView = Static<typeof UserRulesSchema>

export const UpdateUserRulesSchema = Type.Object({
  set_group: Type.Optional(Type.Boolean({ description: 'True to change permission_group_id' })),
  permission_group_id: Type.Optional(Nullable(Id)),
  overrides: Type.Optional(Nullable(Type.Array(GivenOverrideSchema, {
    maxItems: GRANT_ENTITIES.length * GRANT_ACTIONS.length, description: 'Replaces all former rules'
  }))),
  set_age_settings: SetAge,
  age_limit: Type.Optional(Nullable(AgeLimit)),
  hide_unrated_roms: Type.Optional(Nullable(Type.Boolean()))
}, { title: 'UpdateUserRules', additionalProperties: false })
export type UpdateUserRules = Static<typeof UpdateUserRulesSchema>

/** Exactly one of `user_id` and `group_id` is set. The service checks the entity and answers 400. */
export const HideSchema = Type.Object({
  entity: Type.String(),
  entity_id: Id,
  user_id: Type.Optional(Nullable(Id)),
  group_id: Type.Optional(Nullable(Id))
}, { title: 'Hide' })
export type Hide = Static<typeof HideSchema>
