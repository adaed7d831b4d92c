import type { Db } from '../../core/database/db.ts'
import { toDatabaseJson } from '../../core/database/json.ts'
import { baseKeysOf, stampBase } from './base-rows.ts'

export interface ImportedSync { device_id: number, asset_id: number, last_synced_at: string, is_untracked: boolean }

interface SyncedAsset {
  id: number
  rom_id: number | null
  file_name: string
  slot: string | null
  sha1: string
  content_hash: string | null
  updated_at: Date
}

/**
 * Stores the last transfers of saves. A device and the server agree on a save that has not changed since; the first
 * sync decides about any other.
 *
 * @returns true for each that is new
 */
export async function insertImportedSyncs (tx: Db, syncs: readonly ImportedSync[]): Promise<boolean[]> {
  const { rows } = await tx.query<{ device_id: number, asset_id: number }>(`insert into device_syncs
      (device_id, asset_id, last_synced_at, is_untracked)
    select g.device_id, g.asset_id, g.last_synced_at, g.is_untracked from jsonb_to_recordset($1::jsonb)
      as g(device_id int, asset_id int, last_synced_at timestamptz, is_untracked boolean)
      join assets a on a.id = g.asset_id join devices d on d.id = g.device_id
    on conflict do nothing returning device_id, asset_id`, [toDatabaseJson(syncs)])
  const written = new Set(rows.map((row) => `${row.device_id}/${row.asset_id}`))
  const isNew = ({ device_id: device, asset_id: asset }: ImportedSync) => written.has(`${device}/${asset}`)
  const { rows: assets } = await tx.query<SyncedAsset>(`select id, rom_id, file_name, slot, sha1, content_hash, updated_at
    from assets where id = any($1::int[])`, [syncs.filter(isNew).map((sync) => sync.asset_id)])
  const byId = new Map(assets.map((asset) => [asset.id, asset]))
  for (const sync of syncs.filter(isNew)) {
    const asset = byId.get(sync.asset_id)
    if (asset === undefined || asset.rom_id === null) continue
    const updatedAt = new Date(asset.updated_at)
    if (updatedAt.getTime() > Date.parse(sync.last_synced_at)) continue
    for (const key of baseKeysOf(asset)) {
      await stampBase(tx, {
        device_id: sync.device_id, rom_id: asset.rom_id, kind: 'save', key, sha1: asset.sha1, content_hash: asset.content_hash, updated_at: updatedAt
      })
    }
  }
  return syncs.map(isNew)
}
