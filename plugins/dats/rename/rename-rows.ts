import { sql } from 'kysely'
import type { Context } from '../../../core/access/context.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import { isRomVisible } from '../../roms/visibility.ts'

/** The most renames of one chain. A further run renames the rest of a longer one. */
const CHAIN_MAX = 100

/** A ROM whose name differs from that of its game in a DAT. */
export interface MisnamedRom {
  rom_id: number
  library_id: number
  platform_id: number
  fs_path: string
  fs_name: string
  is_folder: boolean
  new_name: string
}

/** A ROM, and the ROMs that must be renamed before it: each has the new name of the ROM before it. */
export interface RenameChain {
  roms: [MisnamedRom, ...MisnamedRom[]]
  /** True if the last ROM gets the name of the first one. */
  is_cycle: boolean
  /** True if a ROM of the chain cannot get its name, because another ROM has or gets that name. */
  is_taken: boolean
}

interface ChainRow extends MisnamedRom {
  start: number
  /** True if the row repeats the first ROM of the chain. */
  is_closed: boolean
  /** True if another ROM of the folder gets the new name. */
  is_name_requested: boolean
  /** True if another ROM of the folder has the new name. */
  is_name_used: boolean
}

/** One page: the ROMs after an id, or after a number of ROMs. */
export interface RenamePage { after?: number, limit: number, offset?: number }

/** The selected ROMs of a DAT. */
export interface RenameSelection { datId: number, romIds: readonly number[] | null }

const misnamed = (caller: AnyCaller, { datId, romIds }: RenameSelection) => sql`from dat_matches m join roms r on r.id = m.rom_id
  where m.dat_id = ${datId} and m.is_best and m.is_complete and not m.is_bad and m.expected_name <> r.fs_name
    and not r.missing_from_fs and (${romIds}::int[] is null or r.id = any(${romIds}::int[])) and ${isRomVisible(caller)}`

/** Loads the ids of ROMs that have another name than their game in a DAT. */
export async function selectMisnamed (
  { db, caller }: Context<AnyCaller>, selection: RenameSelection, { after = 0, limit, offset = 0 }: RenamePage
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select r.id ${misnamed(caller, selection)} and r.id > ${after}
    order by r.id limit ${limit} offset ${offset}`.execute(db)
  return rows.map(({ id }) => id)
}

/** True for a ROM `r` that shares a folder with the ROM `c`, so that their names must differ. */
const isBeside = sql`r.platform_id = c.platform_id and r.library_id = c.library_id`

/**
 * The ROMs of {@link misnamed} that fulfil a condition. Of several ROMs that get the same name, the one with the lowest
 * id gets it.
 */
const selectRoms = (caller: AnyCaller, selection: RenameSelection, condition: ReturnType<typeof sql>) => sql`
  select c.*, exists (select from dat_matches m join roms r on r.id = m.rom_id where m.dat_id = ${selection.datId} and m.is_best
      and m.expected_name = c.new_name and ${isBeside} and r.id < c.rom_id and not r.missing_from_fs and ${isRomVisible(caller)}) as is_name_requested
  from (select r.id as rom_id, r.library_id, r.platform_id, r.fs_path, r.fs_name, r.is_folder, m.expected_name as new_name
    ${misnamed(caller, selection)} and ${condition} offset 0) c`

function toChain (rows: readonly [ChainRow, ...ChainRow[]]): RenameChain {
  const [first, ...others] = rows
  const next = others.filter((row) => !row.is_closed)
  const isCycle = next.length < others.length
  const last = next.at(-1) ?? first
  const isTaken = rows.some((row) => row.is_name_requested) || (!isCycle && last.is_name_used)
  return { roms: [first, ...next], is_cycle: isCycle, is_taken: isTaken }
}

/** Loads the chains that begin with these ROMs, by id. A ROM that has its name by now has none. */
export async function selectChains (
  { db, caller }: Context<AnyCaller>, selection: RenameSelection, ids: readonly number[]
): Promise<RenameChain[]> {
  const holdsName = sql`r.platform_id = b.platform_id and r.library_id = b.library_id and r.fs_name = b.new_name`
  const { rows } = await sql<ChainRow>`
    with recursive chain as (
      select s.rom_id as start, 0 as depth, false as is_closed, s.*
      from (${selectRoms(caller, selection, sql`r.id = any(${ids}::int[])`)}) s
      union all
      select b.start, b.depth + 1, n.rom_id = b.start, n.* from chain b
      cross join lateral (${selectRoms(caller, selection, holdsName)}) n
      where b.depth + 1 < ${CHAIN_MAX} and not b.is_closed and not b.is_name_requested)
    select c.*, exists (select from roms r where ${isBeside} and r.id <> c.rom_id and r.fs_name = c.new_name and ${isRomVisible(caller)}) as is_name_used
    from chain c order by c.start, c.depth`.execute(db)
  return [...Map.groupBy(rows, ({ start }) => start).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [toChain([first, ...others])])
}

export async function countMisnamed ({ db, caller }: Context<AnyCaller>, selection: RenameSelection): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count ${misnamed(caller, selection)}`.execute(db)
  return rows[0]?.count ?? 0
}
