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
/** What users have at providers comes on top, as the document shows: their settings there and `<key>_progression`. */
export type UserView = Static<typeof UserSchema> & Readonly<Record<string, unknown>>

/** What the first administrator needs who does not sit at the server. */
export const SetupCodeSchema = Type.Optional(Type.String({
  description: 'While there is no administrator, and over the network: the code that the server printed when it started'
}))

/** Lengths and characters are checked by the service, which says which rule was broken. */
export const CreateUserSchema = Type.Object({
  username: Type.String(),
  email: Type.String({ description: 'Empty for none' }),
  password: Type.String(),
  role: Type.String({ description: '`admin` makes an administrator, anything else a user' }),
  setup_code: SetupCodeSchema
}, { title: 'CreateUser' })
export type CreateUser = Static<typeof CreateUserSchema>

export const InviteQuery = Type.Object({
  role: Type.String({ description: '`user` or `admin`' }),
  expiration: Type.Optional(Type.Integer({ description: 'Seconds it is good for; else as configured' })),
  setup_code: SetupCodeSchema
})
export type InviteQuery = Static<typeof InviteQuery>

export const InviteLinkSchema = Type.Object({
  token: Type.String(),
  url: Nullable(Type.String({ description: 'Null unless the base URL of the server names a host others can reach' }))
}, { title: 'InviteLink' })
export type InviteLink = Static<typeof InviteLinkSchema>

export const RegisterSchema = Type.Object({
  username: Type.String(),
  email: Type.String({ description: 'Empty for none' }),
  password: Type.String(),
  token: Type.String({ description: 'Of the invite, which also says the role' })
}, { title: 'Register' })
export type Register = Static<typeof RegisterSchema>

/** What is absent or null stays as it is. The same as a form, where `ui_settings` is text and `avatar` a file. */
export const UpdateUserSchema = Type.Object({
  username: Type.Optional(Nullable(Type.String())),
  password: Type.Optional(Nullable(Type.String({ description: 'Ends sessions and client tokens' }))),
  current_password: Type.Optional(Nullable(Type.String({
    description: 'With a new password or e-mail address of your own, unless you signed in within the last five minutes or send HTTP Basic'
  }))),
  keep_tokens: KeepTokens,
  email: Type.Optional(Nullable(Type.String({ description: 'Empty clears it' }))),
  role: Type.Optional(Nullable(Type.String({ description: 'As in `createUser`; without effect on your own account' }))),
  enabled: Type.Optional(Nullable(Type.Boolean({ description: 'Without effect on your own account' }))),
  ui_settings: Type.Optional(Type.Union([
    Type.Object({}, { additionalProperties: true }), Type.String(), Type.Null()
  ], { description: 'An object or its JSON text, in place of the former one' })),
  avatar: Type.Optional(Type.Unsafe<unknown>({
    contentMediaType: 'application/octet-stream', description: 'A file: PNG, JPEG, WebP or GIF, at most 10 MiB and 50 megapixels'
  }))
}, { title: 'UpdateUser' })
export type UpdateUser = Static<typeof UpdateUserSchema> & Readonly<Record<string, unknown>>

/** @param fields what users have at providers */
export const createUserSchema = (fields: Record<string, TSchema>) =>
  Type.Unsafe<UserView>(Type.Object({ ...UserSchema.properties, ...fields }, { title: 'User' }))
export const createUpdateUserSchema = (fields: Record<string, TSchema>) =>
  Type.Unsafe<UpdateUser>(Type.Object({ ...UpdateUserSchema.properties, ...fields }, { title: 'UpdateUser' }))

export const RefreshSchema = Nullable(Type.Object({
  incremental: Type.Optional(Type.Boolean({ default: false, description: 'Only what is new since the last time' }))
}))
