import type { EntityManager } from '@mikro-orm/postgresql'
import { forbidden } from '../../core/errors.ts'
import type { Caller } from '../../core/access/auth.ts'

/** First administrators are made one at a time: any number that is ours alone. */
const FIRST_ADMIN_LOCK = 7_364_121

/** Until the end of the transaction no other one makes a first administrator. */
export async function lockFirstAdmin (tx: EntityManager): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(?)', [FIRST_ADMIN_LOCK])
}

/**
 * Until the end of the transaction nobody else changes this user, nor any administrator who can sign in: of two who
 * would remove the last one at once, the second sees what the first did.
 *
 * @returns whether the user is the only one left
 */
export async function isLastAdmin (tx: EntityManager, userId: number): Promise<boolean> {
  const rows = await tx.execute<{ id: number, is_admin: boolean }[]>(`select id, role = 'admin' and enabled as is_admin
    from users where (role = 'admin' and enabled) or id = ? order by id for update`, [userId])
  const admins = rows.filter((row) => row.is_admin)
  return admins.length === 1 && admins[0]?.id === userId
}

/** A token of an administrator that names no `users.write` is good for the administrator's own account alone. */
export const isUserAdmin = (caller: Caller) => caller.role === 'admin' && caller.scopes.has('users.write')

/** @throws ApiError FORBIDDEN unless the account is the caller's own, or the caller administers users. */
export function checkOwnOrAdmin (caller: Caller, userId: number): void {
  if (caller.id !== userId && !isUserAdmin(caller)) throw forbidden("Only an administrator may change somebody else's account")
}
