import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type { AnyCaller } from '../../platforms/visibility.ts'
import { isRomVisible } from '../../roms/visibility.ts'

/** A ROM id, with the names that find the ROM again after it was gone. */
export interface RomPlace { id: number, fs_name: string, platform_fs_slug: string }

/** Undefined for a ROM that the viewer does not see. */
export async function selectRomPlace (
  em: EntityManager, caller: AnyCaller, romId: number
): Promise<RomPlace | undefined> {
  const { rows: [rom] } = await sql<RomPlace>`select r.id, r.fs_name, p.fs_slug as platform_fs_slug
    from roms r join platforms p on p.id = r.platform_id where r.id = ${romId} and ${isRomVisible(caller)}`
    .execute(em.getKysely())
  return rom
}

/** Returns the total bytes of a user's files, former contents included. */
export async function countBytes (tx: EntityManager, userId: number): Promise<number> {
  const [row] = await tx.execute<{ bytes: string }[]>(`select (
    (select coalesce(sum(file_size_bytes), 0) from assets where user_id = ?) +
    (select coalesce(sum(v.file_size_bytes), 0) from asset_versions v join assets a on a.id = v.asset_id
      where a.user_id = ?)) as bytes`, [userId, userId])
  return Number(row?.bytes ?? 0)
}

/** Takes the advisory lock of this name until the transaction ends. */
export async function lockName (tx: EntityManager, name: string): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name])
}
