import type { Db } from '../../core/database/db.ts'
import type { AssetKind } from './entities.ts'

const DATE_TAG = / ?\[\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}\]/g

/** Returns a file name without the date tag that saves of a slot have. */
export const withoutDateTag = (fileName: string): string => fileName.includes('[') ? fileName.replace(DATE_TAG, '') : fileName

/** Prefixes of base keys: one for file names, one for slots. */
export const NAME_KEY_START = 'file:'
export const SLOT_KEY_START = 'slot:'

export const nameKey = (fileName: string) => NAME_KEY_START + withoutDateTag(fileName)
export const slotKey = (slot: string) => SLOT_KEY_START + slot

/**
 * Returns the keys under which a device and the server store their base: the file name, and the slot if there is one. A
 * device that lists by name looks the base up by name, whatever slot the newest file of that name is in. A device that
 * lists by slot looks it up by slot.
 */
export function baseKeysOf ({ slot, file_name: fileName }: { slot?: string | null, file_name: string }): string[] {
  const name = nameKey(fileName)
  return slot === null || slot === undefined ? [name] : [name, slotKey(slot)]
}

/** A base: content that a device and the server agree on from now on. */
export interface BaseWrite {
  device_id: number
  rom_id: number
  kind: AssetKind
  /** A key from `baseKeysOf`. */
  key: string
  sha1: string
  content_hash: string | null
  /** The asset's `updated_at` while this was its content. */
  updated_at: Date
}

const STAMP = `insert into sync_bases (device_id, rom_id, kind, key, sha1, content_hash, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7::timestamptz)
  on conflict (device_id, rom_id, kind, key) do update
  set sha1 = excluded.sha1, content_hash = excluded.content_hash, updated_at = excluded.updated_at`

export async function stampBase (db: Db, base: BaseWrite): Promise<void> {
  await db.query(STAMP, [
    base.device_id, base.rom_id, base.kind, base.key, base.sha1, base.content_hash, base.updated_at.toISOString()
  ])
}
