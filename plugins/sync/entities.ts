import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { Device } from '../devices/entities.ts'
import { User } from '../users/entities.ts'

export const SYNC_STATUSES = ['PENDING', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED'] as const

/** Offered content that the device may confirm when it completes the session. */
export interface PlannedDownload { asset_id: number, sha1: string }

/** One sync run of a device. */
export const SyncSession = defineEntity({
  name: 'SyncSession',
  tableName: 'sync_sessions',
  indexes: [{ properties: ['user', 'id'] }, { properties: ['status', 'initiated_at'] }],
  properties: {
    id: columns.id(),
    /** UUID of the session; the API accepts either id. */
    session_id: p.uuid().defaultRaw('gen_random_uuid()').unique(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id'),
    device: () => p.manyToOne(Device).deleteRule('cascade').joinColumn('device_id').index(),
    status: p.enum(SYNC_STATUSES).default('IN_PROGRESS'),
    operations_planned: p.integer().default(0),
    operations_completed: p.integer().default(0),
    operations_failed: p.integer().default(0),
    error_message: columns.text().nullable(),
    downloads: p.json<PlannedDownload[]>().defaultRaw("'[]'::jsonb"),
    /** Hash of the completing request's body. A repeated request gets the stored answer again. */
    completed_with: columns.text().nullable(),
    completed_answer: p.json<Record<string, unknown> | null>().nullable(),
    initiated_at: columns.createdAt(),
    completed_at: columns.time().nullable(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type SyncSession = InferEntity<typeof SyncSession>

/** Progress of a run. */
export type Counts = Pick<SyncSession, 'operations_completed' | 'operations_failed'>
