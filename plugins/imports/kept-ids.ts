import { findLastId } from '../../core/database/insert-rows.ts'
import type { Db } from '../../core/database/db.ts'
import { advanceIds, selectUsedIds, storeLastId } from './rows.ts'

/** The tables whose rows keep their ids if this server never gave these ids. Apps store such ids. */
const TABLES = ['users', 'platforms', 'roms', 'collections', 'smart_collections', 'assets'] as const
export type KeptTable = typeof TABLES[number]

/** A source must not use up the ids of a table, which end at 2,147,483,647. */
const KEPT_MAX = 100_000_000

/** Decides which records keep their ids. */
export interface KeptIds {
  /** Returns the id that each record keeps; null for a new one. Later ids of the table follow the kept ones. */
  choose (tx: Db, table: KeptTable, oldIds: readonly string[]): Promise<(number | null)[]>
}

/** Gives every record a new id, for a dry run. */
export const renumberAll: KeptIds = {
  choose: (_tx, _table, oldIds) => Promise.resolve(oldIds.map(() => null))
}

/** Reads the ids that are free, once for all imports of a source. */
export async function createKeptIds (db: Db, source: string): Promise<KeptIds> {
  const lastIds = new Map<KeptTable, number>()
  for (const table of TABLES) lastIds.set(table, await storeLastId(db, source, table, await findLastId(db, table)))

  function readId (table: KeptTable, oldId: string): number | null {
    const id = /^[1-9]\d{0,8}$/.test(oldId) ? Number(oldId) : null
    return id !== null && id > (lastIds.get(table) ?? 0) && id <= KEPT_MAX ? id : null
  }

  return {
    async choose (tx, table, oldIds) {
      const wanted = oldIds.map((oldId) => readId(table, oldId))
      const numbers = wanted.filter((id) => id !== null)
      if (numbers.length === 0) return wanted
      const used = await selectUsedIds(tx, table, numbers)
      await advanceIds(tx, table, Math.max(...numbers))
      return wanted.map((id) => id !== null && used.has(id) ? null : id)
    }
  }
}
