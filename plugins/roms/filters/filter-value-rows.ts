import { sql } from 'kysely'
import type { LongReads } from '../../library/long-reads.ts'
import { idsHiddenBy } from './list-conditions.ts'
import { type AnyCaller, canSeeEverything, hiddenIds } from '../../platforms/visibility.ts'
import { gameFieldsIn, mapGameFields } from '../game-fields.ts'
import type { FilterCounts, RomFilters } from '../schemas.ts'
import {
  ALL_VALUES, COUNTED_COLUMNS, type CountedColumn, type ValueCount, countValues, hashOfValue
} from '../value-count-rows.ts'

const GAME_LISTS = gameFieldsIn('filters')
type GameList = typeof GAME_LISTS[number]
/** One row per distinct value of one column; its other columns are null. */
type FilterValueRow = Partial<Record<CountedColumn, string | number | readonly string[] | null>>

const compare = <Value>(a: Value, b: Value) => a < b ? -1 : Number(a > b)

function toFilters (rows: readonly FilterValueRow[]): RomFilters {
  const valuesOf = (column: CountedColumn) => [...new Set(rows.flatMap((row) => row[column] ?? []))]
  const texts = (column: CountedColumn) => valuesOf(column).filter((value) => typeof value === 'string').sort(compare)
  return {
    ...mapGameFields<GameList, Pick<RomFilters, GameList>>(GAME_LISTS, texts),
    player_counts: texts('player_count'),
    tags: texts('tags'),
    platforms: valuesOf('platform_id').filter((id) => typeof id === 'number').sort(compare)
  }
}

/** The values of a part of the library, with the number of ROMs of each if the database counts them. */
export interface CountedFilters { values: RomFilters, counts: FilterCounts | null }

/** Returns the name of a column in `filter_values`; null for one that has no counts. */
const filterOf = (name: CountedColumn) => name === 'platform_id' ? null : name === 'player_count' ? 'player_counts' : name

function toCounts (counted: readonly ValueCount[]): FilterCounts {
  const counts: FilterCounts = {}
  for (const { name: column, value, roms } of counted) {
    const name = filterOf(column)
    // Assigned as own properties, because a value may be called `__proto__`.
    if (name === null) continue
    Object.defineProperty(counts[name] ??= {}, value, { value: roms, enumerable: true, configurable: true })
  }
  return counts
}

/**
 * Loads every value of the ROMs that a caller sees and has not hidden, sorted. Reads counts, and only hidden ROMs.
 *
 * @param platforms only ROMs of these platforms; null for all
 */
export async function selectCountedValues (
  reads: LongReads, caller: AnyCaller, platforms: readonly number[] | null
): Promise<CountedFilters> {
  const hidden = caller === null || canSeeEverything(caller)
    ? idsHiddenBy(caller)
    : sql`${idsHiddenBy(caller)} union ${hiddenIds(caller, 'roms')}`
  const counts = await countValues(reads, COUNTED_COLUMNS, { caller, platforms, hidden })
  const values = toFilters(counts.map(({ name, value }) => ({ [name]: name === 'platform_id' ? Number(value) : value })))
  return { values, counts: toCounts(counts) }
}

export const NO_FILTERS: CountedFilters = { values: toFilters([]), counts: null }

/** Loads every value of some ROMs, sorted. Their hashes are compared with those of all values of the library. */
export async function selectFilterValues (reads: LongReads, ids: Int32Array): Promise<RomFilters> {
  const { rows } = await sql<{ name: CountedColumn, value: string }>`select a.name, a.value from (${ALL_VALUES}) a
    where ${hashOfValue(sql`a.name`, sql`a.value`)} in (
      select unnest(v.hashes) from rom_values v where v.rom_id = any(${`{${ids.join(',')}}`}::int[]))`.execute(reads)
  return toFilters(rows.map(({ name, value }) => ({ [name]: name === 'platform_id' ? Number(value) : value })))
}
