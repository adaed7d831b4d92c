import { sql } from 'kysely'
import type { Condition } from '../../../core/database/conditions.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { markedRoms } from '../rows.ts'
import { idsHiddenBy } from './list-conditions.ts'
import { type AnyCaller, canSeeEverything, hiddenIds } from '../../platforms/visibility.ts'
import { isCountVisible } from '../visibility.ts'
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

/** The kinds of counts by column; other columns are kinds themselves. */
const KINDS: Partial<Record<Column, string>> = { regions: 'region' }
const kindOf = (name: Column) => KINDS[name] ?? name
const COLUMNS_BY_KIND = new Map<string, Column>(COLUMNS.map((name) => [kindOf(name), name]))
const COUNTED = COLUMNS.filter((name) => name !== 'platform_id').map(kindOf)

/** Selects the values of a ROM `h`. */
const VALUES = sql`select 'player_count' as kind, h.player_count as key
  union all select 'platform_id', h.platform_id::text
  union all ${sql.join(LISTS.map((name) => sql`select ${kindOf(name)}, unnest(${sql.ref(`h.${name}`)})`), sql` union all `)}`

/** True if a caller sees ROMs of every platform and age. */
async function seesAllAges (reads: LongReads, caller: AnyCaller): Promise<boolean> {
  if (caller === null || canSeeEverything(caller)) return true
  if (caller.access.age_limit !== null || caller.access.hide_unrated_roms) return false
  const { rows } = await sql`${hiddenIds(caller, 'platforms')} limit 1`.execute(reads)
  return rows.length === 0
}

/**
 * Loads every value of the ROMs that a caller sees and has not hidden, sorted. Reads counts, and only hidden ROMs.
 *
 * @param platforms only ROMs of these platforms; null for all
 */
export async function selectCountedValues (
  reads: LongReads, caller: AnyCaller, platforms: readonly number[] | null
): Promise<RomFilters> {
  const isWhole = platforms === null && await seesAllAges(reads, caller)
  const isCounted = isWhole
    ? sql<boolean>`true`
    : sql<boolean>`(${isCountVisible(caller)} and (${platforms}::int[] is null or p.id = any(${platforms}::int[])))`
  const counts = isWhole
    ? sql`library_counts r where r.platform_id = 0`
    : sql`library_counts r join platforms p on p.id = r.platform_id where ${isCounted}`
  const hidden = caller === null || canSeeEverything(caller)
    ? idsHiddenBy(caller)
    : sql`${idsHiddenBy(caller)} union ${hiddenIds(caller, 'roms')}`
  const { rows } = await sql<{ kind: string, key: string }>`
    with v as (
      select r.kind, r.key, r.roms from ${counts} and r.kind = any(${COUNTED}::text[])
      union all select 'platform_id', r.platform_id::text, r.roms
      from library_counts r join platforms p on p.id = r.platform_id where r.kind = 'extension' and ${isCounted}
      union all select f.kind, f.key, -1
      from (select r.* from roms r join platforms p on p.id = r.platform_id
        where ${isCounted} and r.id in (${hidden})) h cross join lateral (${VALUES}) f)
    select kind, key from v group by kind, key having sum(roms) > 0`.execute(reads)
  return toFilters(rows.flatMap(({ kind, key }) => {
    const column = COLUMNS_BY_KIND.get(kind)
    return column === undefined ? [] : [{ [column]: column === 'platform_id' ? Number(key) : key }]
  }))
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
