import type { Db } from '../../core/database/db.ts'
import { conflict } from '../../core/errors.ts'
import { lockUser } from '../users/rows.ts'
import { type Kind, measureCollections } from './rows.ts'

/** The most collections of one user, because lists show everybody all public ones. Each smart one needs a search. */
const COLLECTIONS_MAX = { plain: 1_000, smart: 200 } as const
const CHARACTERS_MAX = 1024 * 1024

/**
 * Checks the collections of a user after a transaction has written one.
 *
 * @throws ApiError CONFLICT if there are too many, or if their descriptions are too long
 */
export async function checkQuota (tx: Db, userId: number, kind: Kind): Promise<void> {
  await lockUser(tx, userId)
  const { count, characters } = await measureCollections(tx, userId, kind)
  const max = COLLECTIONS_MAX[kind]
  if (count > max) {
    throw conflict(`You have ${max} ${kind === 'smart' ? 'smart ' : ''}collections already; delete one first`)
  }
  if (characters <= CHARACTERS_MAX) return
  throw conflict('The descriptions and filters of your collections would have more than ' +
    `${CHARACTERS_MAX} characters; shorten some`)
}
