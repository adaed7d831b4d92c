import type { FastifyRequest } from 'fastify'
import { callerOf, checkAccess } from '../../core/access/auth.ts'
import { passwordMarkOf } from '../../core/access/secrets.ts'
import { ApiError } from '../../core/errors.ts'
import type { User } from '../users/entities.ts'
import { findUnrevoked } from './rows.ts'

/**
 * Checks again that the caller of a request may send it. Uploads call this between their last byte and their first
 * change, because a slow body arrives long after the check of its headers. A credential that only expired meanwhile
 * still counts.
 *
 * @throws ApiError NOT_AUTHENTICATED if the account was deleted or disabled, or the credential revoked; FORBIDDEN or
 * INSUFFICIENT_PERMISSIONS if the account lost its rights
 */
export async function confirmCaller (request: FastifyRequest): Promise<void> {
  const { db, method, routeOptions: { config }, server: { permissions } } = request
  const caller = callerOf(request)
  const user = await findUnrevoked(db, caller)
  // A new password may keep client tokens.
  const hasPassword = (hash: User['password_hash']) => caller.token_id !== null || passwordMarkOf(hash) === caller.password_mark
  if (user === null || !hasPassword(user.password_hash)) {
    throw new ApiError('NOT_AUTHENTICATED', 'Your account was disabled, or your sign-in revoked, while the file arrived; sign in and send it again')
  }
  checkAccess(await permissions.toCaller(user, { ...caller, scopes: [...caller.scopes] }), config, method)
}
