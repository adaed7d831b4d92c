import type { FastifyRequest } from 'fastify'
import type { Db } from '../database/db.ts'
import { type Caller, callerOf } from './auth.ts'

/**
 * The caller that work is done for, and the handle on the database to do it with. Created once per request or job and
 * passed on as one value; within a transaction as `{ db: tx, caller }`.
 */
export interface Context<C = Caller> {
  db: Db
  caller: C
}

/** Returns the context of a request to a route that declares scopes. */
export const contextOf = (request: FastifyRequest): Context => ({ db: request.db, caller: callerOf(request) })
