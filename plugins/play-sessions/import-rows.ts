import { createInsert } from '../../core/database/insert-rows.ts'

const SESSIONS = {
  name: 'play_sessions',
  columns: {
    user_id: 'int', device_id: 'int', rom_id: 'int', sync_session_id: 'int', identity: 'text', save_slot: 'text',
    start_time: 'timestamptz', end_time: 'timestamptz', duration_ms: 'bigint', created_at: 'timestamptz', updated_at: 'timestamptz'
  }
} as const

/** Inserts play sessions. @returns null for each that this server has already */
export const insertImportedPlays = createInsert(SESSIONS)
