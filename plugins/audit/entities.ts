import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'

/** A security event. It outlives the account that it is about. */
export const AuditEvent = defineEntity({
  name: 'AuditEvent',
  tableName: 'audit_events',
  properties: {
    id: columns.id(),
    event: columns.text(),
    user_id: p.integer().nullable(),
    username: columns.text().default(''),
    address: columns.text().default(''),
    details: p.json<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    created_at: columns.createdAt().index()
  }
})
export type AuditEvent = InferEntity<typeof AuditEvent>
