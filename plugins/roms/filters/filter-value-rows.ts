import { sql } from 'kysely'
import type { Condition } from '../../../core/database/conditions.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { markedRoms } from '../rows.ts'
import { gameFieldsIn, mapGameFields } from '../game-fields.ts'
import type { RomFilters } from '../schemas.ts'

const GAME_LISTS = gameFieldsIn('filters')
type GameList = typeof GAME_LISTS[number]
const LISTS = [...GAME_LISTS, 'tags'] as const

/** Columns whose distinct values become filters. */
const COLUMNS = [...LISTS, 'player_count', 'platform_id'] as const
type Column = typeof COLUMNS[number]

/** One row per distinct value of one column; its other columns are null. */
type FilterValueRow = Partial<Record<Column, string | number | readonly string[] | null>>

const compare = <Value>(a: Value, b: Value) => a < b ? -1 : Number(a > b)

function toFilters (rows: readonly FilterValueRow[]): RomFilters {
  const valuesOf = (column: Column) => [...new Set(rows.flatMap((row) => row[column] ?? []))]
  const texts = (column: Column) => valuesOf(column).filter((value) => typeof value === 'string').sort(compare)
  return {
    ...mapGameFields<GameList, Pick<RomFilters, GameList>>(GAME_LISTS, texts),
    player_counts: texts('player_count'),
    tags: texts('tags'),
    platforms: valuesOf('platform_id').filter((id) => typeof id === 'number').sort(compare)
  }
}

export const noFilterValues = (): RomFilters => toFilters([])

/**
 * Loads every value of the ROMs that meet a condition, sorted. One pass reads all columns, and groups whole lists
 * before their values.
 */
export async function selectFilterValues (
  reads: LongReads, userId: number | null, condition: Condition
): Promise<RomFilters> {
  const columns = COLUMNS.map((name) => sql.ref(`r.${name}`))
  const { rows } = await sql<FilterValueRow>`select ${sql.join(columns)} from ${markedRoms(userId)} where ${condition}
    group by grouping sets (${sql.join(columns.map((column) => sql`(${column})`))})`.execute(reads)
  return toFilters(rows)
}
