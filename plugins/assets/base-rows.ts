import type { EntityManager } from '@mikro-orm/postgresql'
import type { AssetKind } from './entities.ts'

const DATE_TAG = / ?\[\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}\]/g

/** A file name without the date that saves of a slot carry. */
export const untagged = (fileName: string): string => fileName.includes('[') ? fileName.replace(DATE_TAG, '') : fileName

/** What a key begins with that is made of a name, or of a slot. */
export const NAME_KEY_START = 'file:'
export const SLOT_KEY_START = 'slot:'

export const nameKey = (fileName: string) => NAME_KEY_START + untagged(fileName)
export const slotKey = (slot: string) => SLOT_KEY_START + slot

/**
 * Under what a device and the server agree on content: its name, and its slot where it has one. A device that lists by
 * name asks by that, whatever slot the newest file of the name is in; one that lists by slot asks by the slot.
 */
export function baseKeysOf ({ slot, file_name: fileName }: { slot?: string | null, file_name: string }): string[] {
  const name = nameKey(fileName)
  return slot === null || slot === undefined ? [name] : [name, slotKey(slot)]
}

/** What a device and the server hold alike from now on. */
export interface Agreement {
  device_id: number
  rom_id: number
  kind: AssetKind
  /** One of `baseKeysOf`. */
  key: string
  sha1: string
  content_hash: string | null
  /** The asset's `updated_at` while this was its content. */
  updated_at: Date
}

const STAMP = `insert into sync_bases (device_id, rom_id, kind, key, sha1, content_hash, updated_at)
  values (?, ?, ?, ?, ?, ?, ?::timestamptz)
  on conflict (device_id, rom_id, kind, key) do update
  set sha1 = excluded.sha1, content_hash = excluded.content_hash, updated_at = excluded.updated_at`

export async function stampBase (em: EntityManager, base: Agreement): Promise<void> {
  await em.execute(STAMP, [
    base.device_id, base.rom_id, base.kind, base.key, base.sha1, base.content_hash, base.updated_at.toISOString()
  ])
}
