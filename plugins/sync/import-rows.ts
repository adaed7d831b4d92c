import { createInsert } from '../../core/database/insert-rows.ts'

const SESSIONS = {
  name: 'sync_sessions',
  columns: {
    user_id: 'int', device_id: 'int', status: 'text', operations_planned: 'int', operations_completed: 'int', operations_failed: 'int',
    error_message: 'text', initiated_at: 'timestamptz', completed_at: 'timestamptz', session_id: 'uuid', downloads: 'jsonb',
    created_at: 'timestamptz', updated_at: 'timestamptz'
  }
} as const

/** Inserts sync sessions that ended on another server. */
export const insertImportedSessions = createInsert(SESSIONS)
