import type { Db } from '../../../core/database/db.ts'

/** A save and its stored hash. */
export interface HashedSave { id: number, disk_path: string, content_hash: string | null }

/**
 * Returns the next saves after an id, in the order of ids. Deleted saves are included, because they may be restored.
 *
 * @param missingOnly only saves without a hash
 */
export async function selectHashedSaves (
  db: Db, after: number, limit: number, missingOnly: boolean
): Promise<HashedSave[]> {
  const { rows } = await db.query<HashedSave>(`select id, disk_path, content_hash from assets
    where kind = 'save' and id > $1 and (not $3 or content_hash is null) order by id limit $2`, [after, limit, missingOnly])
  return rows
}

export async function hasUnhashedSaves (db: Db): Promise<boolean> {
  const { rowCount } = await db.query("select 1 from assets where kind = 'save' and content_hash is null limit 1")
  return rowCount !== 0
}

/** Stores the hash of a save, unless the save has other content by now. */
export async function updateContentHash (db: Db, save: HashedSave, hash: string): Promise<void> {
  await db.query('update assets set content_hash = $3 where id = $1 and disk_path = $2', [save.id, save.disk_path, hash])
}
