import type { Caller } from '../../core/access/auth.ts'
import { passwordMarkOf } from '../../core/access/secrets.ts'
import type { Db } from '../../core/database/db.ts'
import { ApiError } from '../../core/errors.ts'
import { lockEnabledUser } from './rows.ts'

/**
 * Locks the caller's account until the transaction ends, so that nobody else changes it or creates tokens for it. A
 * caller who signed in with a former password cannot create anything that outlives that password.
 *
 * @throws ApiError NOT_AUTHENTICATED if the account changed since the caller signed in
 */
export async function lockSignedIn (tx: Db, caller: Pick<Caller, 'id' | 'password_mark'>): Promise<void> {
  const account = await lockEnabledUser(tx, caller.id)
  if (account !== undefined && passwordMarkOf(account.password_hash) === caller.password_mark) return
  throw new ApiError('NOT_AUTHENTICATED', 'Your account was disabled, or its password was changed, at the same moment; sign in again')
}
