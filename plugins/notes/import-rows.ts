import { createInsert } from '../../core/database/insert-rows.ts'

const NOTES = {
  name: 'notes',
  columns: {
    rom_id: 'int', user_id: 'int', title: 'text', content: 'text', is_public: 'boolean', tags: 'text[]',
    created_at: 'timestamptz', updated_at: 'timestamptz'
  }
} as const

/** Inserts notes. @returns null for each whose title its user has already for the ROM */
export const insertImportedNotes = createInsert(NOTES)
