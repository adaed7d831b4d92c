import { sql } from 'kysely'
import { type Condition, allOf } from '../../../core/database/conditions.ts'
import type { Db } from '../../../core/database/db.ts'
import { markedRoms } from '../rows.ts'
import { INDEXED_VALUES, type Order } from './list-order.ts'

export interface Walk {
  userId: number | null
  condition: Condition
  order: Order
  /** The only platform of the list, whose ROMs have an index by name; null if the list has several. */
  platformId: number | null
  limit: number
  offset: number
}

/**
 * Returns the ids of a page that is near the start of its list, by reading this many ROMs in the order of an index.
 * Returns null if no index has the order, or if the page is not full then and more ROMs remain.
 */
export async function walkToPage (
  db: Db, { userId, condition, order: { indexed }, platformId, limit, offset }: Walk, roms: number
): Promise<number[] | null> {
  if (indexed === null) return null
  const { by, hasValue } = indexed
  const platform = platformId === null ? [] : [sql<boolean>`r.platform_id = ${platformId}`]
  const scope = sql`where ${allOf([...platform, ...(hasValue === null ? [] : [hasValue])])}`
  const walked = roms + offset
  const { rows: [row] } = await sql<{ ids: number[], is_last: boolean | null }>`select p.ids,
      case when cardinality(p.ids) < ${limit} then ${hasValue === null} and not exists (
        select from roms r ${scope} order by ${by} offset ${walked} limit 1) end as is_last
    from (select array(select r.id
      from (select r.* from roms r ${scope} order by ${by} limit ${walked}) r
      left join rom_users u on u.rom_id = r.id and u.user_id = ${userId ?? -1}
      where ${condition} order by ${by} limit ${limit} offset ${offset}) as ids offset 0) p`.execute(db)
  return row === undefined || row.is_last === false ? null : row.ids
}

/**
 * Returns the ids of a page of a list of few ROMs, which an index of values finds. The columns are those of all indexed
 * orders.
 */
export async function selectFromFew (
  db: Db, { userId, condition, order: { by }, limit, offset }: Walk
): Promise<number[]> {
  const { rows: [row] } = await sql<{ ids: number[] }>`with few as materialized (
      select r.name_sort_key, ${INDEXED_VALUES} from ${markedRoms(userId)} where ${condition})
    select array(select r.id from few r order by ${by} limit ${limit} offset ${offset}) as ids`.execute(db)
  return row?.ids ?? []
}

interface Plan { Plan: { 'Plan Rows': number } }

/** The planner's estimates of a list. */
export interface ListEstimate {
  listed: number
  /** The ROMs that a walk to the page reads, as if their order were random. */
  walked: number
}

/** Estimates a list by the planner's statistics. */
export async function estimateList (
  db: Db, { userId, condition, limit, offset }: Pick<Walk, 'userId' | 'condition' | 'limit' | 'offset'>
): Promise<ListEstimate> {
  const { rows: [explained] } = await sql<{ 'QUERY PLAN': [Plan] }>`explain (format json)
    select from ${markedRoms(userId)} where ${condition}`.execute(db)
  const { rows: [table] } = await sql<{ roms: number }>`
    select reltuples as roms from pg_class where oid = 'roms'::regclass`.execute(db)
  const listed = explained?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 1
  return { listed, walked: (limit + offset) * (table?.roms ?? 0) / listed }
}
