import type { Db } from '../../core/database/db.ts'
import { toDatabaseJson } from '../../core/database/json.ts'
import type { ReturningRom } from '../roms/former-rows.ts'

/** Attaches assets to ROMs that are in the library under the stored names. */
const REATTACH = `update assets a set rom_id = r.id from roms r join platforms p on p.id = r.platform_id
  where a.rom_id is null and p.fs_slug = a.platform_fs_slug and r.fs_name = a.rom_fs_name`
/** Attaches assets to ROMs that are in the library again, perhaps under other names. */
const REATTACH_RETURNING = `update assets a set rom_id = r.id
  from json_to_recordset($1::json) as r(id int, former_platform_id int, former_name text)
    join (select id, fs_slug from platforms union select id, fs_slug from former_platforms) p on p.id = r.former_platform_id
  where a.rom_id is null and a.platform_fs_slug = p.fs_slug and a.rom_fs_name = r.former_name`
/** Updates the stored names of ROMs that were renamed or moved. */
const UPDATE_NAMES = `update assets a set platform_fs_slug = p.fs_slug, rom_fs_name = r.fs_name
  from roms r join platforms p on p.id = r.platform_id
  where a.rom_id = r.id and (a.platform_fs_slug, a.rom_fs_name) is distinct from (p.fs_slug, r.fs_name)`

/** Attaches saves to one ROM that is back in the library. */
export async function reattachUploadsOf (tx: Db, romId: number): Promise<void> {
  await tx.query(`${REATTACH} and r.id = $1`, [romId])
}

/** Attaches saves to ROMs that returned under their former ids. */
export async function reattachUploadsOfReturning (tx: Db, roms: Iterable<ReturningRom>): Promise<void> {
  const returning = Array.from(roms, ({ id, former_platform_id: platform, former_name: name }) =>
    ({ id, former_platform_id: platform, former_name: name }))
  if (returning.length > 0) await tx.query(REATTACH_RETURNING, [toDatabaseJson(returning)])
}

/** Attaches saves to all ROMs that are back in the library. */
export async function reattachUploads (db: Db): Promise<void> {
  await db.query(UPDATE_NAMES)
  await db.query(REATTACH)
}
