import type { Db } from '../../core/database/db.ts'
import { selectImported } from './rows.ts'

/** Finds rows of this server by the ids of their records. */
export interface References {
  /** Returns the new ids by old id; null is ignored. */
  find (kind: string, oldIds: readonly (string | null)[]): Promise<Map<string, number>>
  /** Returns a function that finds the user of a record. */
  users (records: readonly { user_id: string | null }[]): Promise<(record: { user_id: string | null }) => number | null>
}

/** @param defaultUserId the user of records without one */
export function createReferences (db: Db, source: string, defaultUserId: number | null): References {
  async function find (kind: string, oldIds: readonly (string | null)[]): Promise<Map<string, number>> {
    const named = [...new Set(oldIds.filter((id) => id !== null))]
    if (named.length === 0) return new Map()
    const imported = await selectImported(db, source, kind, named)
    return new Map([...imported].map(([id, { new_id: newId }]) => [id, newId]))
  }

  return {
    find,
    async users (records) {
      const ids = await find('user', records.map((record) => record.user_id))
      return ({ user_id: id }) => id === null ? defaultUserId : ids.get(id) ?? null
    }
  }
}
