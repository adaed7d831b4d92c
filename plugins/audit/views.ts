import type { Static } from '@sinclair/typebox'
import { formatDate } from '../../core/typebox.ts'
import type { AuditEvent } from './entities.ts'
import type { AuditEventSchema } from './schemas.ts'

export function toAuditView (row: AuditEvent): Static<typeof AuditEventSchema> {
  const { id, event, user_id: userId, username, address, details, created_at: createdAt } = row
  return { id, event, user_id: userId ?? null, username, address, details, created_at: formatDate(createdAt) }
}
