import type { Caller } from '../../core/access/auth.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { possibleIds, requireTracks, withoutRepeats } from './check-tracks.ts'
import { deleteFavorites, insertFavorites, selectFavorites } from './playlist-rows.ts'

export const favorites = {
  /**
   * Adds favourites.
   *
   * @returns the number of new favourites
   */
  async add (db: Db, caller: Caller, given: readonly number[]): Promise<number> {
    await requireTracks(db, caller, given)
    return await insertFavorites(db, caller.id, withoutRepeats(given))
  },

  /**
   * Removes favourites, including those that the caller does not see any more.
   *
   * @returns the number of removed favourites
   */
  remove: (db: Db, caller: Caller, given: readonly number[]): Promise<number> =>
    inTransaction(db, async (tx) => {
      const marked = new Set(await selectFavorites(tx, caller.id, possibleIds(given)))
      await requireTracks(tx, caller, given.filter((id) => !marked.has(id)))
      return await deleteFavorites(tx, caller.id, [...marked])
    })
}
