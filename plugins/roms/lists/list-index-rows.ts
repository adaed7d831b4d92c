import { endianness } from 'node:os'
import { type RawBuilder, sql } from 'kysely'
import type { Condition } from '../../../core/database/conditions.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { ListIndex, type ListedRom } from './list-index.ts'
import type { Order } from './list-order.ts'
import { markedRoms } from '../rows.ts'

/**
 * Selects the ids of the rows `x` in their order as bytes, four for each. A million rows would block this process for a
 * second, and the database takes twice as long to write the ids as a text.
 */
const IDS = sql`coalesce(string_agg(int4send(x.id), ''::bytea), ''::bytea)`

/** Reads the bytes in place: the highest of an id comes first, as PostgreSQL sends integers. */
function readIds (bytes: Buffer): Int32Array {
  const ids = new Int32Array(new Uint8Array(bytes).buffer)
  if (endianness() === 'LE') Buffer.from(ids.buffer).swap32()
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

/** Loads the ids of all ROMs that meet a condition, in one pass over an index if one has the order. */
export async function selectListIndex (
  reads: LongReads, source: ListSource, condition: Condition
): Promise<ListAtSnapshot> {
  const { order } = source
  const { rows: [row] } = await sql<{ ids: Buffer, characters: string, snapshot: string }>`
    select ${IDS} as ids, coalesce(string_agg(${CHARACTER}, ''), '') as characters, pg_current_snapshot()::text as snapshot
    from (select r.id, ${order.character} as character from ${tablesOf(source)}
      where ${condition} order by ${order.by}) x`.execute(reads)
  if (row === undefined) throw new Error('The database returned no row of aggregates')
  const ids = readIds(row.ids)
  return { index: ListIndex.of(ids, readCharacters(row.characters, ids.length)), snapshot: row.snapshot }
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

/** Loads the ids that a query selects, in its order. */
export async function selectIds (
  reads: LongReads, ids: RawBuilder<unknown>
): Promise<{ ids: Int32Array, snapshot: string }> {
  const { rows: [row] } = await sql<{ ids: Buffer, snapshot: string }>`
    select ${IDS} as ids, pg_current_snapshot()::text as snapshot from (${ids}) x (id)`.execute(reads)
  if (row === undefined) throw new Error('The database returned no row of aggregates')
  return { ids: readIds(row.ids), snapshot: row.snapshot }
}

/** Loads the ids of all ROMs that meet a condition, in ascending order. */
export const selectSortedIds = async (
  reads: LongReads, userId: number | null, condition: Condition
): Promise<Int32Array> =>
  (await selectIds(reads, sql`select r.id from ${markedRoms(userId)} where ${condition} order by r.id`)).ids
