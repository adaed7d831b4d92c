import type { Db } from '../../../core/database/db.ts'
import { toDatabaseJson } from '../../../core/database/json.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import type { TrackMeta } from '../../roms/entities.ts'
import type { StoredFile } from '../../roms/stored-files.ts'

/** A file that changed since its tags were read; `last_modified` in milliseconds. */
export interface UntaggedFile extends StoredFile {
  id: number
  rom_id: number
  platform_id: number
  last_modified: number
  /** The cover of the file's former version, in the resources folder. */
  cover_path: string | null
}

const SELECT = `select f.id, f.rom_id, f.file_name, f.file_path, r.library_id, r.platform_id, r.fs_path, p.fs_slug as platform_fs_slug,
    round(extract(epoch from f.last_modified) * 1000)::float8 as last_modified, f.track_meta ->> 'cover_path' as cover_path
  from rom_files f join roms r on r.id = f.rom_id join platforms p on p.id = r.platform_id
  where f.category = 'soundtrack' and f.tags_of is distinct from f.last_modified`

/** Loads untagged files with ids after this one, by id. */
export async function selectUntagged (db: Db, afterId: number, limit: number): Promise<UntaggedFile[]> {
  const { rows } = await db.query<UntaggedFile>(`${SELECT} and f.id > $1 order by f.id limit $2`, [afterId, limit])
  return rows
}

export async function findUntagged (db: Db, id: number): Promise<UntaggedFile | null> {
  const { rows } = await db.query<UntaggedFile>(`${SELECT} and f.id = $1`, [id])
  return rows[0] ?? null
}

/** The tags of a file; null if they cannot be read. */
export interface TaggedFile extends Pick<UntaggedFile, 'id' | 'platform_id' | 'last_modified'> { track_meta: TrackMeta | null }

const WRITE = `with tagged as (
    update rom_files f set track_meta = nullif(g.track_meta, 'null'::jsonb), tags_of = f.last_modified, updated_at = now()
    from jsonb_to_recordset($1::jsonb) as g (id int, platform_id int, last_modified float8, track_meta jsonb), roms r
    where f.id = g.id and r.id = f.rom_id and r.platform_id = g.platform_id and f.last_modified = to_timestamp(g.last_modified / 1000)::timestamptz(3)
    returning f.id, f.rom_id
  ), told as (update roms set updated_at = now() where id in (select rom_id from tagged))
  select id from tagged`

/**
 * Writes tags. Skips files that changed again meanwhile, or whose ROM moved.
 *
 * @returns the ids of the written files
 */
export async function writeTags (db: Db, files: readonly TaggedFile[]): Promise<Set<number>> {
  const rows = await inTransaction(db, async (tx) => {
    return (await tx.query<{ id: number }>(WRITE, [toDatabaseJson(files)])).rows
  })
  return new Set(rows.map((row) => row.id))
}
