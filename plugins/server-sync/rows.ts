import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'

/**
 * Selects the ids of devices that the server syncs over SSH. Devices with disabled sync or a disabled owner are
 * skipped.
 */
export async function selectSshDevices (db: Db): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(`select d.id from devices d join users u on u.id = d.user_id and u.enabled
    where d.sync_mode = 'push_pull' and d.sync_enabled and btrim(d.sync_config ->> 'ssh_host') <> '' order by d.id`)
  return rows.map((row) => row.id)
}

/** Selects the ids of devices that exchange saves through their folders. */
export async function selectFolderDevices (db: Db): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(`select d.id from devices d join users u on u.id = d.user_id and u.enabled
    where d.sync_mode = 'file_transfer' and d.sync_enabled order by d.id`)
  return rows.map((row) => row.id)
}

/** Returns the device of a session; null if both are gone. */
export async function findSessionDevice (db: Db, sessionId: number): Promise<number | null> {
  const [row] = (await db.query<{ device_id: number }>('select device_id from sync_sessions where id = $1', [sessionId])).rows
  return row?.device_id ?? null
}

/** A save that a file of a device may belong to. */
export interface Candidate {
  rom_id: number
  rom_name: string
  /** The name of the ROM without its extension. */
  rom_stem: string
  file_name: string
  /** The platform's folder name and its slug. */
  fs_slug: string
  slug: string
  updated_at: number
}

/** Selects a user's saves in slots, for ROMs of platforms with one of these folder names or slugs; newest first. */
export async function selectCandidates (
  { db, caller }: Context<NonNullable<AnyCaller>>, platforms: readonly string[]
): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`select a.rom_id, coalesce(r.name, r.fs_name_no_tags) as rom_name,
      r.fs_name_no_ext as rom_stem, a.file_name,
      p.fs_slug, p.slug, ${selectMilliseconds('a.updated_at')} as updated_at
    from assets a join roms r on r.id = a.rom_id join platforms p on p.id = r.platform_id
    where a.user_id = ${caller.id} and a.kind = 'save' and a.slot is not null and a.deleted_at is null
      and (p.fs_slug = any(${platforms}::text[]) or p.slug = any(${platforms}::text[])) and ${isRomVisible(caller)}
    order by a.updated_at desc, a.id desc`.execute(db)
  return rows
}
