import type { Db, Queryable } from '../../core/database/db.ts'

/** A stored library. */
export interface LibraryRow { id: number, name: string, root: string }

/** An arbitrary key of an advisory lock, used for libraries only. */
const LIBRARIES_LOCK = 7_364_141

export async function selectLibraries (db: Queryable): Promise<LibraryRow[]> {
  return (await db.query<LibraryRow>('select id, name, root from libraries order by id')).rows
}

/** Locks the table of libraries until the transaction ends, so only one process at a time assigns rows. */
export async function lockLibraries (tx: Db): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [LIBRARIES_LOCK])
}

/** Loads the libraries that contained platforms at the last scan of those platforms. */
export async function selectFilled (db: Queryable): Promise<Set<number>> {
  const { rows } = await db.query<{ library_id: number }>('select distinct library_id from platform_folders where not missing_from_fs')
  return new Set(rows.map((row) => row.library_id))
}

/** Stored facts about a platform in one library. */
export interface KnownFolder {
  /** The inode of the folder that contained its ROMs; null if unknown. */
  fs_inode: string | null
  /** True if the last scan found ROMs in it. */
  has_roms: boolean
}

export async function selectKnownFolder (db: Db, platformId: number, libraryId: number): Promise<KnownFolder> {
  // In the order of an index, because otherwise the database would read all ROMs from the first on.
  const { rows: [row] } = await db.query<KnownFolder>(`select
      (select fs_inode from platform_folders where platform_id = $1 and library_id = $2) as fs_inode,
      (select id from roms where platform_id = $1 and library_id = $2 and not missing_from_fs
        order by fs_name limit 1) is not null as has_roms`,
  [platformId, libraryId])
  return row ?? { fs_inode: null, has_roms: false }
}

/** Loads the libraries that contained a platform at its last scan. */
export async function selectHomes (db: Db, fsSlug: string): Promise<Set<number>> {
  const { rows } = await db.query<{ library_id: number }>(`select f.library_id from platform_folders f
    join platforms p on p.id = f.platform_id where p.fs_slug = $1 and not f.missing_from_fs`, [fsSlug])
  return new Set(rows.map((row) => row.library_id))
}

export async function upsertLibrary (tx: Db, { id, name, root }: LibraryRow): Promise<void> {
  await tx.query(`insert into libraries (id, name, root) values ($1, $2, $3)
    on conflict (id) do update set name = excluded.name, root = excluded.root`, [id, name, root])
}
