import type { Db } from '../../core/database/db.ts'

/** Attaches assets to ROMs that are in the library under the stored names. */
const REATTACH = `update assets a set rom_id = r.id from roms r join platforms p on p.id = r.platform_id
  where a.rom_id is null and p.fs_slug = a.platform_fs_slug and r.fs_name = a.rom_fs_name`
/** Updates the stored names of ROMs that were renamed or moved. */
const UPDATE_NAMES = `update assets a set platform_fs_slug = p.fs_slug, rom_fs_name = r.fs_name
  from roms r join platforms p on p.id = r.platform_id
  where a.rom_id = r.id and (a.platform_fs_slug, a.rom_fs_name) is distinct from (p.fs_slug, r.fs_name)`

/** Attaches saves to one ROM that is back in the library. */
export async function reattachUploadsOf (tx: Db, romId: number): Promise<void> {
  await tx.query(`${REATTACH} and r.id = $1`, [romId])
}

/** Attaches saves to all ROMs that are back in the library. */
export async function reattachUploads (db: Db): Promise<void> {
  await db.query(UPDATE_NAMES)
  await db.query(REATTACH)
}
