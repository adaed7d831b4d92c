import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import type { PlatformFolderRef } from './rom-rows.ts'

/** A ROM whose file a scan did not find. */
export interface MissingRom { id: number, library_id: number, fs_path: string, fs_name: string, platform_id: number }

/** Returns the missing ROMs. @param platformId null for all platforms */
export async function selectMissing (db: Db, platformId: number | null): Promise<MissingRom[]> {
  const { rows } = await db.query<MissingRom>(`select id, library_id, fs_path, fs_name, platform_id from roms
    where missing_from_fs and ($1::int is null or platform_id = $1) order by id`, [platformId])
  return rows
}

/** Deletes those of these ROMs that are still missing. @returns the deleted ones */
export async function deleteMissing (
  db: Db, roms: readonly Pick<MissingRom, 'id'>[]
): Promise<Pick<MissingRom, 'id' | 'platform_id'>[]> {
  const { rows } = await db.query<Pick<MissingRom, 'id' | 'platform_id'>>(
    'delete from roms where id = any($1) and missing_from_fs returning id, platform_id', [roms.map(({ id }) => id)])
  return rows
}

/** Returns those of the names that are folders of stored platforms. */
export async function selectStoredFolders (db: Db, names: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ fs_slug: string }>('select fs_slug from platforms where fs_slug = any($1)', [names])
  return new Set(rows.map((row) => row.fs_slug))
}

/** The folder that held a platform's ROMs in one library, by its number; null while there was none. */
export async function findInode (
  db: Db, { id, library_id: library }: PlatformFolderRef
): Promise<string | null> {
  const { rows } = await db.query<{ fs_inode: string | null }>(
    'select fs_inode from platform_folders where platform_id = $1 and library_id = $2', [id, library])
  return rows[0]?.fs_inode ?? null
}

/** True if {@link upsertFolder} would change nothing. */
export async function isFolderStored (
  db: Db, { id, library_id: library }: PlatformFolderRef, inode: string | null
): Promise<boolean> {
  const { rowCount } = await db.query(`select from platform_folders where platform_id = $1 and library_id = $2
    and not missing_from_fs and fs_inode is not distinct from coalesce($3, fs_inode)`, [id, library, inode])
  return rowCount === 1
}

/** Stores that a platform lies in a library, and which folder holds its ROMs; null while no folder does. */
export async function upsertFolder (
  db: Db, { id, library_id: library }: PlatformFolderRef, inode: string | null
): Promise<void> {
  await db.query(`insert into platform_folders as f (platform_id, library_id, fs_inode) values ($1, $2, $3)
    on conflict (platform_id, library_id) do update
      set fs_inode = coalesce(excluded.fs_inode, f.fs_inode), missing_from_fs = false
      where f.missing_from_fs or f.fs_inode is distinct from coalesce(excluded.fs_inode, f.fs_inode)`, [id, library, inode])
}

/** A platform as one library has it. */
export interface KnownPlatform { id: number, fs_slug: string, created_at: Date, missing_from_fs: boolean }

/**
 * Returns the platforms that have, or once had, a folder in a library.
 *
 * @param isFirst true if platforms without a folder in any library count as platforms of this one
 */
export async function selectKnownPlatforms (
  db: Db, libraryId: number, isFirst: boolean
): Promise<KnownPlatform[]> {
  const { rows } = await db.query<KnownPlatform>(`select p.id, p.fs_slug, p.created_at,
      coalesce(f.missing_from_fs, p.missing_from_fs) as missing_from_fs
    from platforms p left join platform_folders f on f.platform_id = p.id and f.library_id = $1
    where f.library_id is not null or $2 and not exists (select 1 from platform_folders o where o.platform_id = p.id)`,
  [libraryId, isFirst])
  return rows
}

/**
 * Marks platforms that are gone from a library, with their ROMs there, and platforms that are present. A platform is
 * missing if it is in no library any more.
 */
export async function markPlatforms (
  db: Db, libraryId: number, presentIds: readonly number[], missingIds: readonly number[]
): Promise<void> {
  await inTransaction(db, async (tx) => {
    for (const [ids, isMissing] of [[presentIds, false], [missingIds, true]] as const) {
      await tx.query(`insert into platform_folders as f (platform_id, library_id, missing_from_fs)
        select id, $1::int, $3::boolean from platforms p where id = any($2::int[]) and not exists (
          select 1 from platform_folders k where k.platform_id = p.id and k.library_id = $1 and k.missing_from_fs = $3)
        on conflict (platform_id, library_id) do update set missing_from_fs = $3 where f.missing_from_fs <> $3`,
      [libraryId, ids, isMissing])
    }
    await tx.query(`update platforms p set missing_from_fs = m.is_missing, updated_at = now()
      from (select platform_id, bool_and(missing_from_fs) as is_missing from platform_folders
        where platform_id = any($1::int[]) group by platform_id) m
      where p.id = m.platform_id and p.missing_from_fs <> m.is_missing`, [[...presentIds, ...missingIds]])
    await tx.query(`update roms set missing_from_fs = true, updated_at = now()
      where platform_id = any($1::int[]) and library_id = $2 and not missing_from_fs`, [missingIds, libraryId])
  })
}

/** Returns when the last scan of a library ended, in milliseconds since 1970; 0 if there was none. */
export async function selectScanEnd (db: Db, libraryId: number): Promise<number> {
  const { rows: [row] } = await db.query<{ ended_at: number | null }>(
    "select date_part('epoch', scanned_at) * 1000 as ended_at from libraries where id = $1", [libraryId])
  return row?.ended_at ?? 0
}

/** Stores how the scan of a library ended. @param problem null if the library could be read */
export async function storeScanEnd (
  db: Db, libraryId: number, scanId: string, problem: string | null
): Promise<void> {
  await db.query('update libraries set scan_id = $2, scanned_at = now(), problem = $3 where id = $1',
    [libraryId, scanId, problem])
}
