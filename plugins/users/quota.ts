import type { Db } from '../../core/database/db.ts'
import type { ApiError } from '../../core/errors.ts'
import { lockUser } from './rows.ts'

/** The most characters in one user's texts of a kind. */
export const QUOTA_CHARACTERS = 1024 * 1024

/** The number of a user's objects of a kind, and the characters of their texts. */
export interface QuotaUse { count: number, characters: number }

/** The most objects of a kind that a user may have, and the messages for more objects and for more characters. */
export interface Quota {
  max: number
  tooMany: string
  tooLong: string
  refuse: (message: string) => ApiError
}

/**
 * Checks a quota after a transaction has written an object. The lock on the user keeps concurrent transactions from
 * exceeding it together.
 *
 * @throws ApiError from `refuse`
 */
export async function checkQuota (
  tx: Db, userId: number, measure: () => Promise<QuotaUse>, { max, tooMany, tooLong, refuse }: Quota
): Promise<void> {
  await lockUser(tx, userId)
  const { count, characters } = await measure()
  if (count > max) throw refuse(tooMany)
  if (characters > QUOTA_CHARACTERS) throw refuse(tooLong)
}
