import type { Db, Queryable } from '../../../core/database/db.ts'

/** Ages in milliseconds by the clock of the database. The clean-up measures every age with this clock. */
export interface DatabaseClock { now: number, running: number, since_look: number | null }

/** Returns null for a worker that the database does not know. */
export async function readClock (db: Db, workerId: string): Promise<DatabaseClock | null> {
  const { rows: [clock] } = await db.query<DatabaseClock>(`select date_part('epoch', now()) * 1000 as now,
      date_part('epoch', now() - w.started_at) * 1000 as running,
      (select date_part('epoch', now() - looked_at) * 1000 from installation) as since_look
    from workers w where w.id = $1`, [workerId])
  return clock ?? null
}

/** Stores the time of the latest check of the assets folder. */
export async function storeCheckTime (db: Db): Promise<void> {
  await db.query('update installation set looked_at = now()')
}

/** Content that a row names. */
export interface Content { disk_path: string, file_size_bytes: number, sha1: string }

/**
 * Returns all content that rows name. Content of deleted accounts is included, because these accounts may be restored.
 */
export async function selectContents (db: Queryable): Promise<Content[]> {
  const { rows } = await db.query<Content>(`select disk_path, file_size_bytes::float8 as file_size_bytes, sha1 from assets
    union all select disk_path, file_size_bytes::float8, sha1 from asset_versions
    union all select f->>'disk_path', (f->>'file_size_bytes')::float8, f->>'sha1'
      from deleted_accounts, jsonb_array_elements(assets || versions) as f`)
  return rows
}

/** Marks these files as present again. */
export async function markPresent (db: Db, paths: readonly string[]): Promise<void> {
  await db.query('update assets set missing_from_fs = false where disk_path = any($1)', [paths])
}
