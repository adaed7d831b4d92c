import type { FastifyRequest } from 'fastify'
import { type Caller, callerOf } from '../../core/access/auth.ts'

/** Who does something to tokens, and from where: what the audit log keeps. */
export interface Actor { caller: Caller, address: string }

export const actorOf = (request: FastifyRequest): Actor => ({ caller: callerOf(request), address: request.ip })
