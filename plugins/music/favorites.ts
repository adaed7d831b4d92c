import type { Context } from '../../core/access/context.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { possibleIds, requireTracks, withoutRepeats } from './check-tracks.ts'
import { deleteFavorites, insertFavorites, selectFavorites } from './playlist-rows.ts'

export const favorites = {
  /**
   * Adds favourites.
   *
   * @returns the number of new favourites
   */
  async add (context: Context, given: readonly number[]): Promise<number> {
    const { db, caller } = context
    await requireTracks(context, given)
    return await insertFavorites(db, caller.id, withoutRepeats(given))
  },

  /**
   * Removes favourites, including those that the caller does not see any more.
   *
   * @returns the number of removed favourites
   */
  remove: ({ db, caller }: Context, given: readonly number[]): Promise<number> =>
    inTransaction(db, async (tx) => {
      const marked = new Set(await selectFavorites(tx, caller.id, possibleIds(given)))
      await requireTracks({ db: tx, caller }, given.filter((id) => !marked.has(id)))
      return await deleteFavorites(tx, caller.id, [...marked])
    })
}
