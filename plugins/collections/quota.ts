import type { Db } from '../../core/database/db.ts'
import { conflict } from '../../core/errors.ts'
import { QUOTA_CHARACTERS, checkQuota } from '../users/quota.ts'
import { type Kind, measureCollections } from './rows.ts'

/** The most collections of one user, because lists show everybody all public ones. Each smart one needs a search. */
const COLLECTIONS_MAX = { plain: 1_000, smart: 200 } as const

/**
 * Checks the collections of a user after a transaction has written one.
 *
 * @throws ApiError CONFLICT if there are too many, or if their descriptions are too long
 */
export async function checkCollections (tx: Db, userId: number, kind: Kind): Promise<void> {
  const max = COLLECTIONS_MAX[kind]
  await checkQuota(tx, userId, () => measureCollections(tx, userId, kind), {
    max,
    tooMany: `You have ${max} ${kind === 'smart' ? 'smart ' : ''}collections already; delete one first`,
    tooLong: `The descriptions and filters of your collections would have more than ${QUOTA_CHARACTERS} characters; shorten some`,
    refuse: conflict
  })
}
