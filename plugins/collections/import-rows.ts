import type { Db } from '../../core/database/db.ts'
import { type InsertRow, insertRows } from '../../core/database/insert-rows.ts'

const COMMON = {
  user_id: 'int', name: 'text', description: 'text', is_public: 'boolean', created_at: 'timestamptz', updated_at: 'timestamptz'
} as const
const COLLECTIONS = { name: 'collections', columns: { ...COMMON, is_favorite: 'boolean', url_cover: 'text' } } as const
const SMART = { name: 'smart_collections', columns: { ...COMMON, filter_criteria: 'jsonb' } } as const

export type ImportedCollection = InsertRow<keyof typeof COLLECTIONS.columns>
export type ImportedSmartCollection = InsertRow<keyof typeof SMART.columns>

/** Inserts a collection. @returns null if its user has one of this name */
export async function insertImportedCollection (tx: Db, row: ImportedCollection): Promise<number | null> {
  return (await insertRows(tx, COLLECTIONS, [row]))[0] ?? null
}

/** Inserts a smart collection. @returns null if its user has one of this name */
export async function insertImportedSmart (tx: Db, row: ImportedSmartCollection): Promise<number | null> {
  return (await insertRows(tx, SMART, [row]))[0] ?? null
}

/** Finds a user's collection of a name; for a list of favourites, the user's present one. */
export async function findCollection (
  db: Db, of: { user_id: number, name: string, is_favorite: boolean }
): Promise<number | null> {
  const { rows } = await db.query<{ id: number }>(`select id from collections
    where user_id = $1 and (name = $2 or $3::boolean and is_favorite) order by (is_favorite = $3::boolean) desc, id limit 1`,
  [of.user_id, of.name, of.is_favorite])
  return rows[0]?.id ?? null
}

/** Adds members to a collection. */
export async function insertImportedMembers (tx: Db, id: number, romIds: readonly number[]): Promise<void> {
  await tx.query(`insert into collection_roms (collection_id, rom_id) select c.id, g.rom_id
    from collections c, unnest($2::int[]) as g (rom_id) where c.id = $1 on conflict do nothing`, [id, romIds])
}

/** True if a collection has a picture, or is gone. */
export async function hasPicture (db: Db, id: number): Promise<boolean> {
  const { rows } = await db.query('select 1 from collections where id = $1 and path_cover_large is null', [id])
  return rows.length === 0
}
