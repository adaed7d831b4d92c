import type pg from 'pg'

/** A ROM whose file a scan did not find. */
export interface MissingRom { id: number, fs_path: string, fs_name: string, platform_id: number }

/** @param platformId null for all platforms */
export async function selectMissing (pool: pg.Pool, platformId: number | null): Promise<MissingRom[]> {
  const { rows } = await pool.query<MissingRom>(`select id, fs_path, fs_name, platform_id from roms
    where missing_from_fs and ($1::int is null or platform_id = $1) order by id`, [platformId])
  return rows
}

/** The folder that held a platform's ROMs, by its number; null while there was none. */
export async function findInode (pool: pg.Pool, platformId: number): Promise<string | null> {
  const { rows } = await pool.query<{ fs_inode: string | null }>('select fs_inode from platforms where id = $1', [platformId])
  return rows[0]?.fs_inode ?? null
}

export async function updateInode (pool: pg.Pool, platformId: number, inode: string): Promise<void> {
  await pool.query('update platforms set fs_inode = $2 where id = $1 and fs_inode is distinct from $2', [platformId, inode])
}
