import type { EntityManager } from '@mikro-orm/postgresql'
import type { Agreement } from '../base-rows.ts'

/** Stores that a device was sent an asset as of this time; the asset may have other content by now. */
export async function noteServed (em: EntityManager, deviceId: number, assetId: number, at: Date): Promise<void> {
  await em.execute(`insert into device_syncs (device_id, asset_id, last_synced_at, is_untracked)
    select ?, id, ?::timestamptz, false from assets where id = ?
    on conflict (device_id, asset_id) do update
    set last_synced_at = greatest(device_syncs.last_synced_at, excluded.last_synced_at), is_untracked = false`,
  [deviceId, at.toISOString(), assetId])
}

/** Makes a device sync an asset again. */
export async function trackAsset (em: EntityManager, deviceId: number, assetId: number): Promise<void> {
  await em.execute('update device_syncs set is_untracked = false where device_id = ? and asset_id = ?', [deviceId, assetId])
}

/** Stops a device from syncing an asset, even one that it never synced. */
export async function untrackAsset (em: EntityManager, deviceId: number, assetId: number): Promise<void> {
  await em.execute(`insert into device_syncs (device_id, asset_id, last_synced_at, is_untracked) values (?, ?, now(), true)
    on conflict (device_id, asset_id) do update set is_untracked = true`, [deviceId, assetId])
}

/** True if this content is the base of a device and the server. */
export async function isBase (
  em: EntityManager, base: Omit<Agreement, 'rom_id' | 'updated_at'> & { rom_id: number | null }
): Promise<boolean> {
  const rows = await em.execute<unknown[]>(`select 1 from sync_bases
    where device_id = ? and rom_id = ? and kind = ? and key = ? and (sha1 = ? or content_hash = ?)`,
  [base.device_id, base.rom_id, base.kind, base.key, base.sha1, base.content_hash])
  return rows.length > 0
}
