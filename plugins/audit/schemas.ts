import { Type } from '@sinclair/typebox'
import { DateTime, Nullable } from '../../core/typebox.ts'

export const AuditEventSchema = Type.Object({
  id: Type.Integer(),
  event: Type.String(),
  user_id: Nullable(Type.Integer()),
  username: Type.String({ description: 'The name at that time, or the name that the request gave' }),
  address: Type.String(),
  details: Type.Object({}, { additionalProperties: true }),
  created_at: DateTime
}, { title: 'AuditEvent' })

export const AuditPageSchema = Type.Object({
  items: Type.Array(AuditEventSchema), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer()
}, { title: 'AuditPage' })
