import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../../../core/access/context.ts'
import type { LongReads } from '../../library/long-reads.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import { isRomVisible } from '../../roms/visibility.ts'
import type { DatGame } from '../parse/dat-types.ts'
import type { DatGameView, DatRomView, ListGamesQuery, PageQuery } from '../schemas.ts'

/** Counts of one DAT: games that the caller has, ROMs that are no game of it. */
export interface DatCounts { id: number, have_count: number, extra_count: number }

/** The condition for a ROM `r` to count for a caller: it is on disk, and no rule hides it. */
const isCounted = (caller: AnyCaller): RawBuilder<boolean> => sql<boolean>`not r.missing_from_fs and ${isRomVisible(caller)}`

/** Counts the games and ROMs of DATs as one caller sees them. */
export async function selectCounts (
  reads: LongReads, caller: AnyCaller, ids: readonly number[]
): Promise<Map<number, DatCounts>> {
  const { rows } = await sql<DatCounts>`
    with present as (
      select m.dat_id, count(distinct m.game)::int as games, count(distinct m.rom_id)::int as roms
      from dat_matches m join roms r on r.id = m.rom_id
      where m.dat_id = any(${ids}::int[]) and m.is_complete and ${isCounted(caller)} group by m.dat_id
    ), owned as (
      select p.slug, count(*)::int as roms from roms r join platforms p on p.id = r.platform_id
      where ${isCounted(caller)} and p.slug in (select unnest(platform_slugs) from dats where id = any(${ids}::int[])) group by p.slug
    )
    select t.id, coalesce(h.games, 0) as have_count,
      coalesce((select sum(o.roms) from owned o where o.slug = any(t.platform_slugs)), 0)::int - coalesce(h.roms, 0) as extra_count
    from dats t left join present h on h.dat_id = t.id where t.id = any(${ids}::int[])`.execute(reads)
  return new Map(rows.map((row) => [row.id, row]))
}

/** ROMs that the caller sees and that hold the complete game `g`. */
const romsOfGame = (caller: AnyCaller) => sql`select r.id from dat_matches m join roms r on r.id = m.rom_id
  where m.dat_id = g.dat_id and m.game = g.position and m.is_complete and ${isCounted(caller)}`

function gameCondition (caller: AnyCaller, datId: number, isPresent: boolean | undefined): RawBuilder<boolean> {
  const isOfDat = sql<boolean>`g.dat_id = ${datId} and g.needed > 0`
  if (isPresent === undefined) return isOfDat
  return isPresent
    ? sql<boolean>`${isOfDat} and exists (${romsOfGame(caller)})`
    : sql<boolean>`${isOfDat} and not exists (${romsOfGame(caller)})`
}

/** Loads one page of the games of a DAT, in the order of the DAT. */
export async function selectGames (
  { db, caller }: Context<AnyCaller>, datId: number, { is_present: isPresent, limit, offset }: ListGamesQuery
): Promise<DatGameView[]> {
  const { rows } = await sql<DatGameView>`
    select g.position, g.name, g.clone_of, g.needed as file_count, array(${romsOfGame(caller)} order by r.id) as rom_ids
    from dat_games g where ${gameCondition(caller, datId, isPresent)}
    order by g.position limit ${limit} offset ${offset}`.execute(db)
  return rows
}

/** Loads one page of ROMs that are no game of a DAT, and how many there are. */
export async function selectExtras (
  { db, caller }: Context<AnyCaller>, datId: number, { limit, offset }: PageQuery
): Promise<{ items: DatRomView[], total: number }> {
  const tables = sql`from roms r join platforms p on p.id = r.platform_id
    where p.slug = any((select platform_slugs from dats where id = ${datId})::text[]) and ${isCounted(caller)}
      and not exists (select from dat_matches m where m.dat_id = ${datId} and m.rom_id = r.id and m.is_complete)`
  const { rows: items } = await sql<DatRomView>`select r.id as rom_id, r.platform_id, r.fs_name ${tables}
    order by r.fs_name, r.id limit ${limit} offset ${offset}`.execute(db)
  const { rows: [count] } = await sql<{ total: number }>`select count(*)::int as total ${tables}`.execute(db)
  return { items, total: count?.total ?? 0 }
}

/** A game with its files, as it stands in a DAT. */
export type GameWithFiles = Pick<DatGame, 'name' | 'clone_of' | 'files'> & { position: number }

/** Loads the next games of a DAT that a caller misses, with their files. */
export async function selectMissing (
  { db, caller }: Context<AnyCaller>, datId: number, after: number, limit: number
): Promise<GameWithFiles[]> {
  const { rows } = await sql<GameWithFiles>`
    select g.position, g.name, g.clone_of, (select json_agg(json_build_object('name', f.name, 'size', f.file_size_bytes,
        'crc', f.crc_hash, 'md5', f.md5_hash, 'sha1', f.sha1_hash, 'status', f.status, 'merge', f.merge, 'is_disk', f.is_disk) order by f.position)
      from dat_files f where f.dat_id = g.dat_id and f.game = g.position) as files
    from dat_games g where ${gameCondition(caller, datId, false)} and g.position > ${after}
    order by g.position limit ${limit}`.execute(db)
  return rows
}
