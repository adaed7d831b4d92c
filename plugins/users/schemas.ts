import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, StringEnum, formatDate } from '../../core/typebox.ts'
import { type Access, scopesOf } from '../../core/grants.ts'
import { SCOPES } from '../../core/scopes.ts'
import { ROLES, type User } from './entities.ts'

export const UserSchema = Type.Object({
  id: Type.Integer(),
  username: Type.String(),
  email: Nullable(Type.String()),
  enabled: Type.Boolean(),
  role: StringEnum(ROLES),
  permission_group_id: Nullable(Type.Integer()),
  oauth_scopes: Type.Array(StringEnum(SCOPES)),
  avatar_path: Type.String(),
  last_login: Nullable(DateTime),
  last_active: Nullable(DateTime),
  ra_username: Nullable(Type.String()),
  ra_progression: Nullable(Type.Object({}, { additionalProperties: true })),
  ui_settings: Nullable(Type.Object({}, { additionalProperties: true })),
  current_device_id: Nullable(Type.String()),
  created_at: DateTime,
  updated_at: DateTime
})
export type UserView = Static<typeof UserSchema>

/** Lengths and characters are checked by the service, which says which rule was broken. */
export const CreateUserSchema = Type.Object({
  username: Type.String(),
  email: Type.String({ default: '' }),
  password: Type.String(),
  role: Type.String({ default: 'user', description: '`admin` makes an administrator, anything else a user' })
})
export type CreateUser = Static<typeof CreateUserSchema>

export function toUserView (user: User, access: Access): UserView {
  return {
    id: user.id,
    username: user.username,
    email: user.email ?? null,
    enabled: user.enabled,
    role: user.role,
    permission_group_id: user.permission_group?.id ?? null,
    oauth_scopes: scopesOf(access),
    avatar_path: user.avatar_path,
    last_login: formatDate(user.last_login ?? null),
    last_active: formatDate(user.last_active ?? null),
    ra_username: user.ra_username ?? null,
    ra_progression: user.ra_progression ?? null,
    ui_settings: user.ui_settings ?? null,
    current_device_id: null,
    created_at: formatDate(user.created_at),
    updated_at: formatDate(user.updated_at)
  }
}
