import type { FastifyRequest } from 'fastify'
import { type Caller, callerOf } from '../../core/access/auth.ts'

/** The caller and the address of a change of tokens, for the audit log. */
export interface Actor { caller: Caller, address: string }

export const actorOf = (request: FastifyRequest): Actor => ({ caller: callerOf(request), address: request.ip })
