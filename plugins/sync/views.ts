import type { Static } from '@sinclair/typebox'
import { formatDate } from '../../core/typebox.ts'
import { deviceIdOf } from '../devices/schemas.ts'
import type { SessionSummary, SyncSessionSchema } from './schemas.ts'

/** Returns the view of a session whose device is loaded. */
export function toSessionView (session: SessionSummary): Static<typeof SyncSessionSchema> {
  return {
    id: session.id,
    session_id: session.session_id,
    device_id: deviceIdOf(session.device),
    user_id: session.user.id,
    status: session.status,
    initiated_at: formatDate(session.initiated_at),
    completed_at: formatDate(session.completed_at ?? null),
    operations_planned: session.operations_planned,
    operations_completed: session.operations_completed,
    operations_failed: session.operations_failed,
    error_message: session.error_message ?? null,
    created_at: formatDate(session.created_at),
    updated_at: formatDate(session.updated_at)
  }
}
