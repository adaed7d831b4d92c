import type { EntityManager } from '@mikro-orm/postgresql'
import type { Caller } from '../../core/access/auth.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { possibleIds, requireTracks, withoutRepeats } from './check-tracks.ts'
import { deleteFavorites, insertFavorites, selectFavorites } from './playlist-rows.ts'

export const favorites = {
  /**
   * Adds favourites.
   *
   * @returns the number of new favourites
   */
  async add (em: EntityManager, caller: Caller, given: readonly number[]): Promise<number> {
    await requireTracks(em, caller, given)
    return await insertFavorites(em, caller.id, withoutRepeats(given))
  },

  /**
   * Removes favourites, including those that the caller does not see any more.
   *
   * @returns the number of removed favourites
   */
  remove: (em: EntityManager, caller: Caller, given: readonly number[]): Promise<number> =>
    inTransaction(em, async (tx) => {
      const marked = new Set(await selectFavorites(tx, caller.id, possibleIds(given)))
      await requireTracks(tx, caller, given.filter((id) => !marked.has(id)))
      return await deleteFavorites(tx, caller.id, [...marked])
    })
}
