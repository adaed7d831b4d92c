import type pg from 'pg'

/** A library as it is remembered. */
export interface LibraryRow { id: number, name: string, root: string }

/** Any number that is ours alone. */
const LIBRARIES_LOCK = 7_364_141

export async function selectLibraries (client: pg.Pool | pg.ClientBase): Promise<LibraryRow[]> {
  return (await client.query<LibraryRow>('select id, name, root from libraries order by id')).rows
}

/** Has one process at a time write down which libraries there are, until the transaction ends. */
export async function lockLibraries (client: pg.ClientBase): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1)', [LIBRARIES_LOCK])
}

/** The libraries in which platforms lay when they were last scanned. */
export async function selectFilled (pool: pg.Pool): Promise<Set<number>> {
  const { rows } = await pool.query<{ library_id: number }>('select distinct library_id from platform_folders where not missing_from_fs')
  return new Set(rows.map((row) => row.library_id))
}

/** What is known of a platform in one library. */
export interface KnownFolder {
  /** The folder that held its ROMs; null when none was noted. */
  fs_inode: string | null
  /** Whether it has ROMs that the last scan found. */
  has_roms: boolean
}

export async function selectKnownFolder (pool: pg.Pool, platformId: number, libraryId: number): Promise<KnownFolder> {
  // In the order of an index: to find any of them the database would read all ROMs from the first on.
  const { rows: [row] } = await pool.query<KnownFolder>(`select
      (select fs_inode from platform_folders where platform_id = $1 and library_id = $2) as fs_inode,
      (select id from roms where platform_id = $1 and library_id = $2 and not missing_from_fs
        order by fs_name limit 1) is not null as has_roms`,
  [platformId, libraryId])
  return row ?? { fs_inode: null, has_roms: false }
}

/** The libraries in which a platform lay when they were last scanned. */
export async function selectHomes (pool: pg.Pool, fsSlug: string): Promise<Set<number>> {
  const { rows } = await pool.query<{ library_id: number }>(`select f.library_id from platform_folders f
    join platforms p on p.id = f.platform_id where p.fs_slug = $1 and not f.missing_from_fs`, [fsSlug])
  return new Set(rows.map((row) => row.library_id))
}

export async function upsertLibrary (client: pg.ClientBase, { id, name, root }: LibraryRow): Promise<void> {
  await client.query(`insert into libraries (id, name, root) values ($1, $2, $3)
    on conflict (id) do update set name = excluded.name, root = excluded.root`, [id, name, root])
}
