import type { Db } from '../../core/database/db.ts'
import { announceSocketEnd } from '../../core/sockets/end-sockets.ts'
import { ClientToken } from '../tokens/entities.ts'
import { User } from '../users/entities.ts'
import { OneTimeToken } from './entities.ts'
import { deleteSessions } from './rows.ts'

/** The credentials that a new password does not revoke. */
export interface RemainingSignIns {
  /** Client tokens, and the devices that are connected by them. */
  keep_tokens?: boolean | null | undefined
}

/**
 * Sets an account's password and revokes all credentials of the former one: sessions, OAuth2 sign-ins, reset links,
 * invites, and client tokens with their codes and device authorizations. The change reaches all workers, whichever
 * process makes it.
 */
export async function replacePassword (
  tx: Db, userId: number, passwordHash: string, remaining: RemainingSignIns = {}
): Promise<void> {
  await tx.em.nativeUpdate(User, { id: userId }, { password_hash: passwordHash })
  await tx.em.nativeDelete(OneTimeToken, { user: userId })
  const sessions = await deleteSessions(tx, userId)
  if (remaining.keep_tokens === true) {
    for (const { id } of sessions) await announceSocketEnd(tx, { kind: 'session', id })
  } else {
    await tx.em.nativeDelete(ClientToken, { user: userId })
    await announceSocketEnd(tx, { kind: 'user', id: userId })
  }
}
