import { type RawBuilder, sql } from 'kysely'
import type { LongReads } from '../library/long-reads.ts'
import { type AnyCaller, canSeeEverything, hiddenIds } from '../platforms/visibility.ts'
import { gameFieldsIn } from './game-fields.ts'
import { isCountVisible } from './visibility.ts'

/** Columns of lists whose distinct values are counted. */
export const COUNTED_LISTS = [...gameFieldsIn('filters'), 'tags'] as const
/** All columns whose distinct values are counted. */
export const COUNTED_COLUMNS = [...COUNTED_LISTS, 'player_count', 'platform_id'] as const
export type CountedColumn = typeof COUNTED_COLUMNS[number]

/** The number of ROMs with one value of a column. */
export interface ValueCount { name: CountedColumn, value: string, roms: number }

/** The ROMs whose values are counted. */
export interface CountedRoms {
  caller: AnyCaller
  /** Only ROMs of these platforms; null for all. */
  platforms?: readonly number[] | null
  /** Selects the ids of ROMs that are not counted; null for none. */
  hidden: RawBuilder<unknown> | null
}

/** The kinds of counts by column; other columns are kinds themselves. */
const KINDS: Partial<Record<CountedColumn, string>> = { regions: 'region' }
const kindOf = (name: CountedColumn) => KINDS[name] ?? name
const COLUMNS_BY_KIND = new Map<string, CountedColumn>(COUNTED_COLUMNS.map((name) => [kindOf(name), name]))
const IS_LIST = new Set<CountedColumn>(COUNTED_LISTS)

/** Selects each value of the library as the name of its column and its text. A value without ROMs may be among them. */
export const ALL_VALUES = sql`select distinct case r.kind when ${KINDS.regions} then 'regions' else r.kind end as name, r.key as value
  from library_counts r where r.platform_id = 0 and r.kind = any(${COUNTED_COLUMNS.map(kindOf)}::text[])
  union all select 'platform_id', p.id::text from platforms p`

/** Returns the hash of a value of a column, as in `rom_values`. */
export const hashOfValue = (column: RawBuilder<unknown>, value: RawBuilder<unknown>): RawBuilder<string> =>
  sql<string>`hashtextextended(${column} || ':' || ${value}, 0)`

/** Selects the values of a ROM `h`. */
const selectValues = (columns: readonly CountedColumn[]) => sql.join(columns.map((name) => {
  const column = sql.ref(`h.${name}`)
  return sql`select ${kindOf(name)}::text as kind, ${IS_LIST.has(name) ? sql`unnest(${column})` : sql`${column}::text`} as key`
}), sql` union all `)

/** True if a caller sees ROMs of every platform and age, except those that are hidden one by one. */
export async function seesAllAges (reads: LongReads, caller: AnyCaller): Promise<boolean> {
  if (caller === null || canSeeEverything(caller)) return true
  if (caller.access.age_limit !== null || caller.access.hide_unrated_roms) return false
  const { rows } = await sql`${hiddenIds(caller, 'platforms')} limit 1`.execute(reads)
  return rows.length === 0
}

/** Counts the visible ROMs with each value of these columns, by value. Reads stored counts, and only hidden ROMs. */
export async function countValues (
  reads: LongReads, columns: readonly CountedColumn[], { caller, platforms = null, hidden }: CountedRoms
): Promise<ValueCount[]> {
  const isWhole = platforms === null && await seesAllAges(reads, caller)
  const isCounted = isWhole
    ? sql<boolean>`true`
    : sql<boolean>`(${isCountVisible(caller)} and (${platforms}::int[] is null or p.id = any(${platforms}::int[])))`
  const counts = isWhole
    ? sql`library_counts r where r.platform_id = 0`
    : sql`library_counts r join platforms p on p.id = r.platform_id where ${isCounted}`
  const ofPlatforms = sql`union all select 'platform_id', r.platform_id::text, r.roms
    from library_counts r join platforms p on p.id = r.platform_id where r.kind = 'extension' and ${isCounted}`
  const ofHidden = (ids: RawBuilder<unknown>) => sql`union all select f.kind, f.key, -1
    from (select r.* from roms r join platforms p on p.id = r.platform_id
      where ${isCounted} and r.id in (${ids})) h cross join lateral (${selectValues(columns)}) f`
  const { rows } = await sql<{ kind: string, key: string, roms: number }>`
    with v as (
      select r.kind, r.key, r.roms from ${counts} and r.kind = any(${columns.map(kindOf)}::text[])
      ${columns.includes('platform_id') ? ofPlatforms : sql``}
      ${hidden === null ? sql`` : ofHidden(hidden)})
    select kind, key, sum(roms)::int as roms from v group by kind, key having sum(roms) > 0
    order by lower(key), key, kind`.execute(reads)
  return rows.flatMap(({ kind, key, roms }) => {
    const name = COLUMNS_BY_KIND.get(kind)
    return name === undefined ? [] : [{ name, value: key, roms }]
  })
}
