import type { Static } from '@sinclair/typebox'
import { formatDate } from '../../core/typebox.ts'
import type { Session } from './entities.ts'
import type { SessionSchema } from './schemas.ts'

export function toSessionView (session: Session, currentId: number | null): Static<typeof SessionSchema> {
  return {
    id: session.id,
    user_agent: session.user_agent,
    address: session.address,
    created_at: formatDate(session.created_at),
    last_seen: formatDate(session.seen_at),
    expires_at: formatDate(session.expires_at),
    is_current: session.id === currentId,
    device_id: session.device?.device_id ?? null
  }
}
