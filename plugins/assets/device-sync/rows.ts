import type { Db } from '../../../core/database/db.ts'
import type { BaseWrite } from '../base-rows.ts'

/** Stores that a device was sent an asset as of this time; the asset may have other content by now. */
export async function storeDownloadStart (db: Db, deviceId: number, assetId: number, at: Date): Promise<void> {
  await db.query(`insert into device_syncs (device_id, asset_id, last_synced_at, is_untracked)
    select $1, id, $2::timestamptz, false from assets where id = $3
    on conflict (device_id, asset_id) do update
    set last_synced_at = greatest(device_syncs.last_synced_at, excluded.last_synced_at), is_untracked = false`,
  [deviceId, at.toISOString(), assetId])
}

/** Makes a device sync an asset again. */
export async function trackAsset (db: Db, deviceId: number, assetId: number): Promise<void> {
  await db.query('update device_syncs set is_untracked = false where device_id = $1 and asset_id = $2', [deviceId, assetId])
}

/** Stops a device from syncing an asset, even one that it never synced. */
export async function untrackAsset (db: Db, deviceId: number, assetId: number): Promise<void> {
  await db.query(`insert into device_syncs (device_id, asset_id, last_synced_at, is_untracked) values ($1, $2, now(), true)
    on conflict (device_id, asset_id) do update set is_untracked = true`, [deviceId, assetId])
}

/** True if this content is the base of a device and the server. */
export async function isBase (
  db: Db, base: Omit<BaseWrite, 'rom_id' | 'updated_at'> & { rom_id: number | null }
): Promise<boolean> {
  const rows = (await db.query<object>(`select 1 from sync_bases
    where device_id = $1 and rom_id = $2 and kind = $3 and key = $4 and (sha1 = $5 or content_hash = $6)`,
  [base.device_id, base.rom_id, base.kind, base.key, base.sha1, base.content_hash])).rows
  return rows.length > 0
}
