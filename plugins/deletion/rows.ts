import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'

/** A ROM to delete, and the location of its files. */
export interface RomToDelete {
  id: number
  library_id: number
  platform_id: number
  platform_fs_slug: string
  fs_path: string
  fs_name: string
  is_folder: boolean
}

/** Returns the visible ROMs among some ids, by id. */
export async function selectDoomed (
  { db, caller }: Context<AnyCaller>, ids: readonly number[]
): Promise<Map<number, RomToDelete>> {
  const { rows } = await sql<RomToDelete>`select r.id, r.library_id, r.platform_id, p.fs_slug as platform_fs_slug, r.fs_path,
      r.fs_name, r.is_folder
    from roms r join platforms p on p.id = r.platform_id
    where r.id = any(${ids}::int[]) and ${isRomVisible(caller)}`.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * Deletes rows, except for ROMs that have another name by now or are being renamed. The note of an interrupted rename
 * refers to the row, and is needed to find the files on disk.
 *
 * @returns the ids of the ROMs that are no longer listed
 */
export async function deleteRoms (db: Db, roms: readonly RomToDelete[]): Promise<Set<number>> {
  const ids = roms.map(({ id }) => id)
  return await inTransaction(db, async (tx) => {
    await sql`delete from roms r using unnest(${ids}::int[], ${roms.map((rom) => rom.fs_name)}::text[]) as doomed (id, fs_name)
      where r.id = doomed.id and r.fs_name = doomed.fs_name
        and not exists (select 1 from rom_renames n where n.rom_id = r.id)`.execute(tx)
    const { rows } = await sql<{ id: number }>`select id from roms where id = any(${ids}::int[])`.execute(tx)
    const left = new Set(rows.map(({ id }) => id))
    return new Set(ids.filter((id) => !left.has(id)))
  })
}
