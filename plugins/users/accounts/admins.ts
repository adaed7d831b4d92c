import { forbidden } from '../../../core/errors.ts'
import type { Caller } from '../../../core/access/auth.ts'

/** A token of an administrator that names no `users.write` is good for the administrator's own account alone. */
export const isUserAdmin = (caller: Caller) => caller.role === 'admin' && caller.scopes.has('users.write')

/** @throws ApiError FORBIDDEN unless the account is the caller's own, or the caller administers users. */
export function checkOwnOrAdmin (caller: Caller, userId: number): void {
  if (caller.id !== userId && !isUserAdmin(caller)) throw forbidden("Only an administrator may change somebody else's account")
}
