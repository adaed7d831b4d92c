import type { EntityManager } from '@mikro-orm/postgresql'
import type { Caller } from '../../core/access/auth.ts'
import { passwordMarkOf } from '../../core/access/secrets.ts'
import { ApiError } from '../../core/errors.ts'
import { lockEnabledUser } from './rows.ts'

/**
 * Keeps others from changing the caller's account, or making tokens of it, until the transaction ends. Whoever was let
 * in by a former password makes nothing that would outlive it.
 *
 * @throws ApiError NOT_AUTHENTICATED when the account is no longer what the caller signed in to
 */
export async function lockSignedIn (tx: EntityManager, caller: Pick<Caller, 'id' | 'password_mark'>): Promise<void> {
  const account = await lockEnabledUser(tx, caller.id)
  if (account !== undefined && passwordMarkOf(account.password_hash) === caller.password_mark) return
  throw new ApiError('NOT_AUTHENTICATED', 'Your account was disabled, or its password changed, meanwhile; sign in again')
}
