import { sql } from 'kysely'
import type { Context } from '../../../core/access/context.ts'
import type { Db } from '../../../core/database/db.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import { isRomVisible } from '../../roms/visibility.ts'

/** A ROM id, with the names that find the ROM again after it was gone. */
export interface RomNames { id: number, fs_name: string, platform_fs_slug: string }

/** Returns the names of a ROM; undefined if the caller does not see it. */
export async function selectRomNames (
  { db, caller }: Context<AnyCaller>, romId: number
): Promise<RomNames | undefined> {
  const { rows: [rom] } = await sql<RomNames>`select r.id, r.fs_name, p.fs_slug as platform_fs_slug
    from roms r join platforms p on p.id = r.platform_id where r.id = ${romId} and ${isRomVisible(caller)}`
    .execute(db)
  return rom
}

/** Returns the total bytes of a user's files, former contents included. */
export async function countBytes (tx: Db, userId: number): Promise<number> {
  const [row] = (await tx.query<{ bytes: string }>(`select (
    (select coalesce(sum(file_size_bytes), 0) from assets where user_id = $1) +
    (select coalesce(sum(v.file_size_bytes), 0) from asset_versions v join assets a on a.id = v.asset_id
      where a.user_id = $2)) as bytes`, [userId, userId])).rows
  return Number(row?.bytes ?? 0)
}

/** Takes the advisory lock of this name until the transaction ends. */
export async function lockName (tx: Db, name: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name])
}
