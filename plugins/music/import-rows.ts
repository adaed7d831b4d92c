import type { Db } from '../../core/database/db.ts'
import { insertRows } from '../../core/database/insert-rows.ts'

const PLAYLISTS = {
  name: 'music_playlists',
  columns: {
    user_id: 'int', name: 'text', description: 'text', is_public: 'boolean', created_at: 'timestamptz', updated_at: 'timestamptz'
  }
} as const
export type ImportedPlaylist = { readonly [Name in keyof typeof PLAYLISTS.columns]: unknown }

/** Inserts a playlist. @returns null if its user has one of this name */
export async function insertImportedPlaylist (tx: Db, row: ImportedPlaylist): Promise<number | null> {
  return (await insertRows(tx, PLAYLISTS, [row]))[0] ?? null
}

/** True if a playlist was not deleted since its import. */
export const hasPlaylist = async (db: Db, id: number): Promise<boolean> =>
  (await db.query('select 1 from music_playlists where id = $1', [id])).rows.length > 0
