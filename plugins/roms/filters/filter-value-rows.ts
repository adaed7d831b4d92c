import { sql } from 'kysely'
import type { Condition } from '../../../core/database/conditions.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { markedRoms } from '../rows.ts'
import { idsHiddenBy } from './list-conditions.ts'
import { type AnyCaller, canSeeEverything, hiddenIds } from '../../platforms/visibility.ts'
import { gameFieldsIn, mapGameFields } from '../game-fields.ts'
import type { RomFilters } from '../schemas.ts'
import { COUNTED_COLUMNS, type CountedColumn, countValues } from '../value-counts.ts'

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

/**
 * Loads every value of the ROMs that a caller sees and has not hidden, sorted. Reads counts, and only hidden ROMs.
 *
 * @param platforms only ROMs of these platforms; null for all
 */
export async function selectCountedValues (
  reads: LongReads, caller: AnyCaller, platforms: readonly number[] | null
): Promise<RomFilters> {
  const hidden = caller === null || canSeeEverything(caller)
    ? idsHiddenBy(caller)
    : sql`${idsHiddenBy(caller)} union ${hiddenIds(caller, 'roms')}`
  const counts = await countValues(reads, COUNTED_COLUMNS, { caller, platforms, hidden })
  return toFilters(counts.map(({ name, value }) => ({ [name]: name === 'platform_id' ? Number(value) : value })))
}

export const noFilterValues = (): RomFilters => toFilters([])

/**
 * Loads every value of the ROMs that meet a condition, sorted. One pass reads all columns, and groups whole lists
 * before their values.
 */
export async function selectFilterValues (
  reads: LongReads, userId: number | null, condition: Condition
): Promise<RomFilters> {
  const columns = COUNTED_COLUMNS.map((name) => sql.ref(`r.${name}`))
  const { rows } = await sql<FilterValueRow>`select ${sql.join(columns)} from ${markedRoms(userId)} where ${condition}
    group by grouping sets (${sql.join(columns.map((column) => sql`(${column})`))})`.execute(reads)
  return toFilters(rows)
}
