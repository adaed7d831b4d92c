import type { FastifyInstance, FastifyRequest } from 'fastify'
import { databaseDate } from '../../core/database/clock.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { isLastAdmin } from '../users/rows.ts'
import { User } from '../users/entities.ts'
import type { ClaimedRole } from './identity.ts'

/** @returns true if the account has the role now; the last administrator who can sign in keeps that role */
async function storeRole (db: Db, userId: number, role: User['role']): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    if (role !== 'admin' && await isLastAdmin(tx, userId)) return false
    await tx.em.nativeUpdate(User, { id: userId }, { role, updated_at: databaseDate() })
    return true
  })
}

/** Sets an account's role to the provider's role of this sign-in. */
export async function applyRole (
  app: FastifyInstance, { db, ip: address }: Pick<FastifyRequest, 'db' | 'ip'>, user: User, claimed: ClaimedRole
): Promise<void> {
  const { id, username, role: from } = user
  const to = claimed === 'admin' ? 'admin' : 'user'
  if (claimed === null || from === to) return
  if (!await storeRole(db, id, to)) {
    app.log.warn({ username }, 'the last administrator keeps the role that the OpenID provider removed')
    return
  }
  user.role = to
  await app.users.announceRole({ user: { id, username }, from, to, actor: null }, address, { by: 'oidc' })
}
