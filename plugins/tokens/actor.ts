import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyRequest } from 'fastify'
import { type Caller, callerOf } from '../../core/access/auth.ts'
import { ApiError } from '../../core/errors.ts'

/** Who does something to tokens, and from where: what the audit log keeps. */
export interface Actor { caller: Caller, address: string }

export const actorOf = (request: FastifyRequest): Actor => ({ caller: callerOf(request), address: request.ip })

/*
 * Whoever changes devices or tokens takes what it changes in this order, so that no two wait for each other: the user,
 * the device, the token, and then what hangs on them.
 */

/** Keeps others from making tokens of the same user until the transaction ends. */
export async function lockOwner (tx: EntityManager, userId: number): Promise<void> {
  const rows = await tx.execute<unknown[]>('select 1 from users where id = ? for no key update', [userId])
  if (rows.length === 0) throw new ApiError('NOT_AUTHENTICATED', 'Your account was deleted')
}

/** Keeps others from changing or deleting a token, if there is one, until the transaction ends. */
export async function lockToken (tx: EntityManager, tokenId: number): Promise<void> {
  await tx.execute('select 1 from client_tokens where id = ? for no key update', [tokenId])
}
