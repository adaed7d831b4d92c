import type { Db } from '../../core/database/db.ts'
import { insertRows } from '../../core/database/insert-rows.ts'

const NOTES = {
  name: 'notes',
  columns: {
    rom_id: 'int', user_id: 'int', title: 'text', content: 'text', is_public: 'boolean', tags: 'text[]',
    created_at: 'timestamptz', updated_at: 'timestamptz'
  }
} as const
export type ImportedNote = { readonly [Name in keyof typeof NOTES.columns]: unknown }

/** Inserts notes. @returns null for each whose title its user has already for the ROM */
export const insertImportedNotes = (tx: Db, rows: readonly ImportedNote[]): Promise<(number | null)[]> =>
  insertRows(tx, NOTES, rows)
