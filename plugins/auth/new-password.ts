import type { EntityManager } from '@mikro-orm/postgresql'
import { announceSocketEnd } from '../../core/sockets/end-sockets.ts'
import { ClientToken } from '../tokens/entities.ts'
import { User } from '../users/entities.ts'
import { OneTimeToken } from './entities.ts'
import { deleteSessions } from './rows.ts'

/** What a new password leaves as it is. */
export interface KeptSignIns {
  /** Client tokens, and with them the devices that are connected by one. */
  keep_tokens?: boolean | null | undefined
}

/**
 * Gives an account a new password. All that was let in by the former one ends: sessions, OAuth2 sign-ins, reset links,
 * invites, and client tokens with the codes and device authorizations that stand for them; on all workers, whichever
 * process does this.
 */
export async function replacePassword (
  tx: EntityManager, userId: number, passwordHash: string, kept: KeptSignIns = {}
): Promise<void> {
  await tx.nativeUpdate(User, { id: userId }, { password_hash: passwordHash })
  await tx.nativeDelete(OneTimeToken, { user: userId })
  const sessions = await deleteSessions(tx, userId)
  if (kept.keep_tokens === true) {
    for (const { id } of sessions) await announceSocketEnd(tx, { kind: 'session', id })
  } else {
    await tx.nativeDelete(ClientToken, { user: userId })
    await announceSocketEnd(tx, { kind: 'user', id: userId })
  }
}
