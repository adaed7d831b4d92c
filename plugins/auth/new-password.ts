import type { EntityManager } from '@mikro-orm/postgresql'
import { User } from '../users/entities.ts'
import { OneTimeToken, Session } from './entities.ts'

/** Gives an account a new password, and ends its sessions, OAuth2 logins and reset links. */
export async function replacePassword (tx: EntityManager, userId: number, passwordHash: string): Promise<void> {
  await tx.nativeUpdate(User, { id: userId }, { password_hash: passwordHash })
  await tx.nativeDelete(OneTimeToken, { user: userId, purpose: { $in: ['refresh', 'reset'] } })
  await tx.nativeDelete(Session, { user: userId })
}
