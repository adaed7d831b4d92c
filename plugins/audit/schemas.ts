import { Type } from '@sinclair/typebox'
import { DateTime, Nullable } from '../../core/typebox.ts'

export const AuditEventSchema = Type.Object({
  id: Type.Integer(),
  event: Type.String(),
  user_id: Nullable(Type.Integer()),
  username: Type.String({ description: 'As it was then, or as it was given' }),
  address: Type.String(),
  details: Type.Object({}, { additionalProperties: true }),
  created_at: DateTime
}, { title: 'AuditEvent' })

export const AuditPageSchema = Type.Object({
  items: Type.Array(AuditEventSchema), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer()
}, { title: 'AuditPage' })
