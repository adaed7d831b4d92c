import { type RawBuilder, sql } from 'kysely'
import type { Condition } from '../../../core/database/conditions.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { ListIndex, type ListedRom } from './list-index.ts'
import type { Order } from './list-order.ts'
import { markedRoms } from '../rows.ts'

const [ZERO, NINE] = [48, 57]

/** Reads ids digit by digit, because a JSON parser would first create an array of a million numbers. */
function readIds (bytes: Buffer, count: number): Int32Array {
  const ids = new Int32Array(count)
  let [next, id] = [0, 0]
  for (let at = 1; next < count; at++) {
    const code = bytes[at] ?? 0
    if (code >= ZERO && code <= NINE) {
      id = id * 10 + code - ZERO
    } else {
      ids[next++] = id
      id = 0
    }
  }
  return ids
}

const NO_CHARACTER = '\t'
/** Selects the first character of a value of `x`, or a tab. */
const CHARACTER = sql`coalesce(nullif(left(x.character, 1), ''), ${NO_CHARACTER})`
const toCodePoint = (character: string) => character === NO_CHARACTER ? 0 : character.codePointAt(0) ?? 0

function readCharacters (text: string, count: number): Uint32Array {
  const characters = new Uint32Array(count)
  let next = 0
  for (const character of text) characters[next++] = toCodePoint(character)
  return characters
}

/** The tables and the order of a list, for one user's marks. */
export interface ListSource { userId: number | null, order: Order }
const tablesOf = ({ userId, order }: ListSource) => sql`${markedRoms(userId)} ${order.joins}`

/** A list, and the snapshot of the database in which it was read. */
export interface ListAtSnapshot { index: ListIndex, snapshot: string }

/**
 * Loads the ids of all ROMs that meet a condition, in one pass over an index if one has the order. The ids arrive as
 * one text, because a million rows would block this process for a second.
 */
export async function selectListIndex (
  reads: LongReads, source: ListSource, condition: Condition
): Promise<ListAtSnapshot> {
  const { order } = source
  const { rows: [row] } = await sql<{ json: string, characters: string, count: number, snapshot: string }>`
    select '[' || coalesce(string_agg(x.id::text, ','), '') || ']' as json, count(*)::int as count,
      coalesce(string_agg(${CHARACTER}, ''), '') as characters, pg_current_snapshot()::text as snapshot
    from (select r.id, ${order.character} as character from ${tablesOf(source)}
      where ${condition} order by ${order.by}) x`.execute(reads)
  if (row === undefined) throw new Error('The database returned no row of aggregates')
  const { json, characters, count, snapshot } = row
  return { index: ListIndex.of(readIds(Buffer.from(json), count), readCharacters(characters, count)), snapshot }
}

/** Loads those of some ROMs that meet a condition, in the order of the list. */
export async function selectListed (
  tx: LongReads, source: ListSource, condition: Condition, ids: readonly number[]
): Promise<ListedRom[]> {
  const { order } = source
  const { rows } = await sql<{ id: number, character: string }>`select x.id, ${CHARACTER} as character
    from (select r.id, ${order.character} as character from ${tablesOf(source)}
      where r.id = any(${ids}::int[]) and ${condition} order by ${order.by}) x`.execute(tx)
  return rows.map(({ id, character }) => ({ id, character: toCodePoint(character) }))
}

/** Sorts ROMs as a list is sorted. Skips deleted ones. */
export async function sortRoms (tx: LongReads, source: ListSource, ids: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select r.id from ${tablesOf(source)}
    where r.id = any(${ids}::int[]) order by ${source.order.by}`.execute(tx)
  return rows.map(({ id }) => id)
}

/** Loads the ids that a query selects, in its order. They arrive as one text, as above. */
export async function selectIds (
  reads: LongReads, ids: RawBuilder<unknown>
): Promise<{ ids: Int32Array, snapshot: string }> {
  const { rows: [row] } = await sql<{ json: string, count: number, snapshot: string }>`
    select '[' || coalesce(string_agg(x.id::text, ','), '') || ']' as json, count(*)::int as count,
      pg_current_snapshot()::text as snapshot from (${ids}) x (id)`.execute(reads)
  if (row === undefined) throw new Error('The database returned no row of aggregates')
  return { ids: readIds(Buffer.from(row.json), row.count), snapshot: row.snapshot }
}

/** Loads the ids of all ROMs that meet a condition, in ascending order. */
export const selectSortedIds = async (
  reads: LongReads, userId: number | null, condition: Condition
): Promise<Int32Array> =>
  (await selectIds(reads, sql`select r.id from ${markedRoms(userId)} where ${condition} order by r.id`)).ids
