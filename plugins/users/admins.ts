import { forbidden } from '../../core/errors.ts'
import { type Caller, isAdministrator } from '../../core/access/auth.ts'

/** @throws ApiError FORBIDDEN unless the account is the caller's own, or the caller is an administrator. */
export function checkOwnOrAdmin (caller: Caller, userId: number): void {
  if (caller.id !== userId && !isAdministrator(caller)) throw forbidden("Only an administrator may change somebody else's account")
}
