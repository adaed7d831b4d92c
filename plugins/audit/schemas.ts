import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, formatDate } from '../../core/typebox.ts'
import type { AuditEvent } from './entities.ts'

export const AuditEventSchema = Type.Object({
  id: Type.Integer(),
  event: Type.String(),
  user_id: Nullable(Type.Integer()),
  username: Type.String({ description: 'As it was then, or as it was given' }),
  address: Type.String(),
  details: Type.Object({}, { additionalProperties: true }),
  created_at: DateTime
})

export const AuditPageSchema = Type.Object({
  items: Type.Array(AuditEventSchema), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer()
})

export function toAuditView (row: AuditEvent): Static<typeof AuditEventSchema> {
  const { id, event, user_id: userId, username, address, details, created_at: createdAt } = row
  return { id, event, user_id: userId ?? null, username, address, details, created_at: formatDate(createdAt) }
}
