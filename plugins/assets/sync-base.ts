import type { EntityManager } from '@mikro-orm/postgresql'
import type { AssetKind } from './entities.ts'

const DATE_TAG = / ?\[\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}\]/g

/** A file name without the date that saves of a slot carry. */
export const untagged = (fileName: string): string => fileName.replace(DATE_TAG, '')

/** Under what a device and the server agree on content: a slot, or a file name without its date. */
export function baseKeyOf ({ slot, file_name: fileName }: { slot: string | null, file_name: string }): string {
  return slot === null ? `file:${untagged(fileName)}` : `slot:${slot}`
}

/** What a device and the server hold alike from now on. */
export interface Agreement {
  device_id: number
  rom_id: number
  kind: AssetKind
  /** As `baseKeyOf` makes it. */
  key: string
  sha1: string
  content_hash: string | null
}

const STAMP = `insert into sync_bases (device_id, rom_id, kind, key, sha1, content_hash, updated_at)
  values (?, ?, ?, ?, ?, ?, now())
  on conflict (device_id, rom_id, kind, key) do update
  set sha1 = excluded.sha1, content_hash = excluded.content_hash, updated_at = excluded.updated_at`

export async function stampBase (em: EntityManager, base: Agreement): Promise<void> {
  await em.execute(STAMP, [base.device_id, base.rom_id, base.kind, base.key, base.sha1, base.content_hash])
}
