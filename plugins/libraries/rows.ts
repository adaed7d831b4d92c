import { sql } from 'kysely'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import type { LongReads } from '../library/long-reads.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'

/** A library that is or was configured. */
export interface StoredLibrary {
  id: number
  name: string
  root: string
  scan_id: string | null
  /** Milliseconds since 1970. */
  scanned_at: number | null
  problem: string | null
}

export async function selectStoredLibraries (db: Db): Promise<StoredLibrary[]> {
  const { rows } = await sql<StoredLibrary>`select id, name, root, scan_id, problem,
    ${selectMilliseconds('scanned_at')} as scanned_at from libraries order by id`.execute(db)
  return rows
}

/** Counts of the content of a library that a caller sees. */
export interface LibrarySize { platform_count: number, rom_count: number, missing_count: number, fs_size_bytes: number }

/** Counts the content of libraries, by id. Skips libraries without a ROM. */
export async function selectLibrarySizes (reads: LongReads, caller: AnyCaller): Promise<Map<number, LibrarySize>> {
  const { rows } = await sql<LibrarySize & { library_id: number }>`
    select library_id, count(*)::int as platform_count, sum(roms)::int as rom_count, sum(missing)::int as missing_count,
      sum(bytes)::float8 as fs_size_bytes
    from (select r.library_id, count(*) as roms, count(*) filter (where r.missing_from_fs) as missing,
        sum(r.fs_size_bytes) as bytes
      from roms r where ${isRomVisible(caller)} group by r.library_id, r.platform_id) platforms
    group by library_id`.execute(reads)
  return new Map(rows.map(({ library_id: id, ...size }) => [id, size]))
}

/** Number of rows that one statement deletes, with all dependent rows. This takes a second on a slow machine. */
const DELETED_AT_ONCE = 5_000

const DELETE_ROMS = `delete from roms where id in (select id from roms where library_id = $1 limit ${DELETED_AT_ONCE})`

/** Loads the platforms that a library contains or contained. */
export async function selectPlatformIds (db: Db, id: number): Promise<number[]> {
  const { rows } = await db.query<{ platform_id: number }>(
    'select platform_id from platform_folders where library_id = $1', [id])
  return rows.map((row) => row.platform_id)
}

/** Deletes the rows of a library's files, in statements that each stay within the time limit of a statement. */
export async function deleteFiles (db: Db, id: number): Promise<void> {
  for (let deleted = 1; deleted > 0;) deleted = (await db.query(DELETE_ROMS, [id])).rowCount ?? 0
  await db.query('delete from firmware where library_id = $1', [id])
}
