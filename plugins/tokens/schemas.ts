import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, NameText, StringEnum } from '../../core/typebox.ts'
import { SCOPES } from '../../core/access/scopes.ts'

const LIFETIMES = ['30d', '90d', '1y', 'never'] as const
export type Lifetime = typeof LIFETIMES[number]
/** The lifetime of a token. Apps also send null for a token that never expires. */
export const LifetimeSchema = Type.Optional(Nullable(StringEnum(LIFETIMES, { default: 'never' })))

const fields = {
  id: Type.Integer(),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  expires_at: Nullable(DateTime),
  last_used_at: Nullable(DateTime),
  created_at: DateTime,
  user_id: Type.Integer(),
  device_id: Nullable(Type.String({ description: 'The device to which the token is bound' })),
  device_number: Nullable(Type.Integer({ description: 'The integer id of that device' }))
}

export const ClientTokenSchema = Type.Object(fields, { title: 'ClientToken' })
export const ClientTokenCreateSchema = Type.Object({
  ...fields, raw_token: Type.String({ description: 'The token itself; returned only once' })
}, { title: 'ClientTokenCreate' })
export const ClientTokenAdminSchema = Type.Object({
  ...fields, username: Type.String(), user_avatar_path: Type.String(), user_updated_at: DateTime
}, { title: 'ClientTokenAdmin' })
export type ClientTokenView = Static<typeof ClientTokenSchema>

export const CreateTokenSchema = Type.Object({
  name: NameText({ minLength: 1, maxLength: 255 }),
  scopes: Type.Array(StringEnum(SCOPES), { minItems: 1, maxItems: SCOPES.length }),
  expires_in: LifetimeSchema
}, { title: 'CreateToken' })
export type CreateToken = Static<typeof CreateTokenSchema>

export const ClientTokenPairSchema = Type.Object({
  code: Type.String({ description: 'Valid for one use; in upper or lower case, with or without dashes' }),
  expires_in: Type.Integer({ description: 'Seconds' })
}, { title: 'ClientTokenPair' })
export const ExchangeSchema = Type.Object({ code: Type.String({ minLength: 1, maxLength: 32 }) }, { title: 'Exchange' })
