import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { DateTime, Nullable, StringEnum } from '../../core/typebox.ts'
import { SCOPES } from '../../core/access/scopes.ts'
import { KeepTokens } from '../auth/schemas.ts'
import { ROLES } from './entities.ts'

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
  ui_settings: Nullable(Type.Object({}, { additionalProperties: true })),
  current_device_id: Nullable(Type.String()),
  created_at: DateTime,
  updated_at: DateTime
}, { title: 'User' })
/**
 * A user on the wire. The accounts at providers add fields, as the API document shows: settings and
 * `<key>_progression`.
 */
export type UserView = Static<typeof UserSchema> & Readonly<Record<string, unknown>>

/** The setup code, which the first administrator needs on any other machine than the server. */
export const SetupCodeSchema = Type.Optional(Type.String({
  description:
    'The code that the server printed when it started; needed over the network while there is no administrator'
}))

/** The service checks lengths and characters, because its errors name the broken rule. */
export const CreateUserSchema = Type.Object({
  username: Type.String(),
  email: Type.String({ description: 'Email address; empty for none' }),
  password: Type.String(),
  role: Type.String({ description: '`admin` makes an administrator, anything else a user' }),
  setup_code: SetupCodeSchema
}, { title: 'CreateUser' })
export type CreateUser = Static<typeof CreateUserSchema>

export const InviteQuery = Type.Object({
  role: Type.String({ description: '`user` or `admin`' }),
  expiration: Type.Optional(Type.Integer({ description: 'Seconds until the invite expires; default: INVITE_TOKEN_EXPIRY_SECONDS' })),
  setup_code: SetupCodeSchema
})
export type InviteQuery = Static<typeof InviteQuery>

export const InviteLinkSchema = Type.Object({
  token: Type.String(),
  url: Nullable(Type.String({ description: 'Null unless the base URL of the server has a host that others can reach' }))
}, { title: 'InviteLink' })
export type InviteLink = Static<typeof InviteLinkSchema>

export const RegisterSchema = Type.Object({
  username: Type.String(),
  email: Type.String({ description: 'Email address; empty for none' }),
  password: Type.String(),
  token: Type.String({ description: 'Token of the invite, which also decides the role' })
}, { title: 'Register' })
export type Register = Static<typeof RegisterSchema>

/**
 * The fields of an update; absent or null fields do not change. A form has the same fields, with `ui_settings` as text
 * and `avatar` as a file.
 */
export const UpdateUserSchema = Type.Object({
  username: Type.Optional(Nullable(Type.String())),
  password: Type.Optional(Nullable(Type.String({ description: 'Revokes sessions and client tokens' }))),
  current_password: Type.Optional(Nullable(Type.String({
    description:
      'Needed with a new password or e-mail address of your own, unless you signed in within the last five ' +
      'minutes or send HTTP Basic'
  }))),
  keep_tokens: KeepTokens,
  email: Type.Optional(Nullable(Type.String({ description: 'Empty clears it' }))),
  role: Type.Optional(Nullable(Type.String({ description: 'As in `createUser`; without effect on your own account' }))),
  enabled: Type.Optional(Nullable(Type.Boolean({ description: 'Without effect on your own account' }))),
  ui_settings: Type.Optional(Type.Union([
    Type.Object({}, { additionalProperties: true }), Type.String(), Type.Null()
  ], { description: 'An object or its JSON text; replaces the former one' })),
  avatar: Type.Optional(Type.Unsafe<unknown>({
    contentMediaType: 'application/octet-stream', description: 'A file: PNG, JPEG, WebP or GIF, at most 10 MiB and 50 megapixels. In JSON, an empty text removes the picture'
  }))
}, { title: 'UpdateUser' })
export type UpdateUser = Static<typeof UpdateUserSchema> & Readonly<Record<string, unknown>>

/** The names of all fields of a user and of its update, beside which providers add theirs. */
export const USER_FIELD_NAMES = [UserSchema, UpdateUserSchema].flatMap(({ properties }) => Object.keys(properties))

/** @param fields of the users' accounts at providers */
export const createUserSchema = (fields: Record<string, TSchema>) =>
  Type.Unsafe<UserView>(Type.Object({ ...UserSchema.properties, ...fields }, { title: 'User' }))
export const createUpdateUserSchema = (fields: Record<string, TSchema>) =>
  Type.Unsafe<UpdateUser>(Type.Object({ ...UpdateUserSchema.properties, ...fields }, { title: 'UpdateUser' }))

export const RefreshSchema = Nullable(Type.Object({
  incremental: Type.Optional(Type.Boolean({ default: false, description: 'Reads only changes since the last time' }))
}))
