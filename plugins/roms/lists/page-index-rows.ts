import { sql } from 'kysely'
import type { Condition } from '../../../core/database/conditions.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { CachedText } from '../../../core/web/cached-text.ts'
import type { Order } from './list-order.ts'
import { markedRoms } from '../rows.ts'

/** All ROMs of a list in order, with the offsets that let a client jump to a character. A million ROMs take 14 MB. */
export interface PageIndex {
  ids: Int32Array
  /** The ids as JSON text, ready to send. */
  text: CachedText
  /** First character of the sort value → offset of its first row. */
  characters: Record<string, number>
}

const [ZERO, NINE] = [48, 57]

/** Reads ids digit by digit, because a JSON parser would first create an array of a million numbers. */
function readIds ({ bytes }: CachedText, count: number): Int32Array {
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

function readCharacters (text: string): Record<string, number> {
  const first = new Map<string, number>()
  let offset = 0
  for (const character of text) {
    if (!first.has(character)) first.set(character, offset)
    offset++
  }
  first.delete(NO_CHARACTER)
  return Object.fromEntries(first)
}

/**
 * Loads the ids of all ROMs that meet a condition, in one pass over an index if one has the order. The ids arrive as
 * one text, because a million rows would block this process for a second.
 */
export async function selectPageIndex (
  reads: LongReads, userId: number | null, condition: Condition, order: Order
): Promise<PageIndex> {
  const { rows } = await sql<{ json: string, characters: string, count: number }>`
    select '[' || coalesce(string_agg(x.id::text, ','), '') || ']' as json, count(*)::int as count,
      coalesce(string_agg(coalesce(nullif(left(x.character, 1), ''), ${NO_CHARACTER}), ''), '') as characters
    from (select r.id, ${order.character} as character from ${markedRoms(userId)} ${order.joins}
      where ${condition} order by ${order.by}) x`.execute(reads)
  const { json, characters, count } = rows[0] ?? { json: '[]', characters: '', count: 0 }
  const text = new CachedText(json)
  return { ids: readIds(text, count), text, characters: readCharacters(characters) }
}

/** Loads the ids of all ROMs that meet a condition, in ascending order. They arrive as one text, as above. */
export async function selectSortedIds (
  reads: LongReads, userId: number | null, condition: Condition
): Promise<Int32Array> {
  const { rows } = await sql<{ json: string, count: number }>`
    select '[' || coalesce(string_agg(x.id::text, ','), '') || ']' as json, count(*)::int as count
    from (select r.id from ${markedRoms(userId)} where ${condition} order by r.id) x`.execute(reads)
  const { json, count } = rows[0] ?? { json: '[]', count: 0 }
  return readIds(new CachedText(json), count)
}

export const sizeOfPageIndex = ({ ids, text }: PageIndex): number => ids.byteLength + text.size
