import type pg from 'pg'

/** ROMs that are in the library under the names their files remember. */
const REATTACH = `update assets a set rom_id = r.id from roms r join platforms p on p.id = r.platform_id
  where a.rom_id is null and p.fs_slug = a.platform_fs_slug and r.fs_name = a.rom_fs_name`
/** ROMs that were renamed or moved since. */
const FOLLOW = `update assets a set platform_fs_slug = p.fs_slug, rom_fs_name = r.fs_name
  from roms r join platforms p on p.id = r.platform_id
  where a.rom_id = r.id and (a.platform_fs_slug, a.rom_fs_name) is distinct from (p.fs_slug, r.fs_name)`

/** Gives a ROM that is there again its saves. */
export async function reattachUploadsOf (client: pg.PoolClient, romId: number): Promise<void> {
  await client.query(`${REATTACH} and r.id = $1`, [romId])
}

/** Gives saves of a ROM that was gone to the one that is there again. */
export async function reattachUploads (pool: pg.Pool): Promise<void> {
  await pool.query(FOLLOW)
  await pool.query(REATTACH)
}
