import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, StringEnum, formatDate } from '../../core/typebox.ts'
import { SCOPES } from '../../core/scopes.ts'
import type { ClientToken } from './entities.ts'

export const LIFETIMES = ['30d', '90d', '1y', 'never'] as const

const fields = {
  id: Type.Integer(),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  expires_at: Nullable(DateTime),
  last_used_at: Nullable(DateTime),
  created_at: DateTime,
  user_id: Type.Integer(),
  device_id: Nullable(Type.String())
}

export const ClientTokenSchema = Type.Object(fields)
export const ClientTokenCreateSchema = Type.Object({
  ...fields, raw_token: Type.String({ description: 'The token itself; shown this once' })
})
export type ClientTokenView = Static<typeof ClientTokenSchema>

export const CreateTokenSchema = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  scopes: Type.Array(StringEnum(SCOPES), { minItems: 1, maxItems: SCOPES.length }),
  expires_in: Type.Optional(StringEnum(LIFETIMES, { default: 'never' }))
})
export type CreateToken = Static<typeof CreateTokenSchema>

export function toTokenView (token: ClientToken): ClientTokenView {
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes,
    expires_at: formatDate(token.expires_at ?? null),
    last_used_at: formatDate(token.last_used_at ?? null),
    created_at: formatDate(token.created_at),
    user_id: token.user.id,
    device_id: null
  }
}
