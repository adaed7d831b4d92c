import type { Static } from '@sinclair/typebox'
import { formatDate } from '../../core/typebox.ts'
import type { ClientToken } from './entities.ts'
import type { ClientTokenView, ClientTokenAdminSchema } from './schemas.ts'

/** Returns the wire form of a token that was loaded with its device. */
export function toTokenView (token: ClientToken): ClientTokenView {
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes,
    expires_at: formatDate(token.expires_at ?? null),
    last_used_at: formatDate(token.last_used_at ?? null),
    created_at: formatDate(token.created_at),
    user_id: token.user.id,
    device_id: token.device?.device_id ?? null,
    device_number: token.device?.id ?? null
  }
}

/** Returns the wire form for administrators of a token that was loaded with its device and user. */
export function toTokenAdminView (token: ClientToken): Static<typeof ClientTokenAdminSchema> {
  const { username, avatar_path: avatar, updated_at: updatedAt } = token.user
  return { ...toTokenView(token), username, user_avatar_path: avatar, user_updated_at: formatDate(updatedAt) }
}
