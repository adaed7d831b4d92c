import { sql } from 'kysely'
import type { Context } from '../../../core/access/context.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import { isRomVisible } from '../../roms/visibility.ts'

/** A ROM whose name differs from that of its game in a DAT. */
export interface MisnamedRom {
  rom_id: number
  library_id: number
  platform_id: number
  fs_path: string
  fs_name: string
  is_folder: boolean
  new_name: string
  /** True if another ROM of the platform has the new name, or gets it too. */
  is_taken: boolean
}

/** One page: the ROMs after an id, or after a number of ROMs. */
interface Page { after?: number, limit: number, offset?: number }

/** The selected ROMs of a DAT. */
export interface RenameSelection { datId: number, romIds: readonly number[] | null }

const misnamed = (caller: AnyCaller, { datId, romIds }: RenameSelection) => sql`from dat_matches m join roms r on r.id = m.rom_id
  where m.dat_id = ${datId} and m.is_best and m.is_complete and not m.is_bad and m.expected_name <> r.fs_name
    and not r.missing_from_fs and (${romIds}::int[] is null or r.id = any(${romIds}::int[])) and ${isRomVisible(caller)}`

/** True for a ROM `r` that shares a folder with the ROM `w`, so that their names must differ. */
const isBeside = sql`r.platform_id = w.platform_id and r.library_id = w.library_id`

/** Loads ROMs that have another name than their game in a DAT, by id. */
export async function selectMisnamed (
  { db, caller }: Context<AnyCaller>, selection: RenameSelection, { after = 0, limit, offset = 0 }: Page
): Promise<MisnamedRom[]> {
  const { rows } = await sql<MisnamedRom>`
    with wanted as (
      select r.id as rom_id, r.library_id, r.platform_id, r.fs_path, r.fs_name, r.is_folder, m.expected_name as new_name
      ${misnamed(caller, selection)} and r.id > ${after} order by r.id limit ${limit} offset ${offset})
    select w.*, exists (select from roms r where ${isBeside} and r.id <> w.rom_id and r.fs_name = w.new_name and ${isRomVisible(caller)})
      or exists (select from dat_matches m join roms r on r.id = m.rom_id where m.dat_id = ${selection.datId} and m.is_best
        and m.expected_name = w.new_name and ${isBeside} and r.id < w.rom_id and not r.missing_from_fs and ${isRomVisible(caller)}) as is_taken
    from wanted w order by w.rom_id`.execute(db)
  return rows
}

export async function countMisnamed ({ db, caller }: Context<AnyCaller>, selection: RenameSelection): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count ${misnamed(caller, selection)}`.execute(db)
  return rows[0]?.count ?? 0
}
