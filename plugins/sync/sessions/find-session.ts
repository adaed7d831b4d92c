import type { Db } from '../../../core/database/db.ts'
import { notFound } from '../../../core/errors.ts'
import { readReference } from '../../../core/web/reference.ts'
import { SyncSession } from '../entities.ts'

export const unknownSession = (reference: string) =>
  notFound(`Sync session with ID '${reference}' not found; negotiate to open one`)

interface Condition { user: number, id?: number, session_id?: string }

/** Returns the condition that finds a session by either of its ids; null for an invalid id. */
export function conditionOf (userId: number, reference: number | string): Condition | null {
  const id = readReference(reference, 'session_id')
  return id === null ? null : { user: userId, ...id }
}

/** Loads a session of a user. @throws ApiError NOT_FOUND */
export async function getSession (db: Db, userId: number, reference: string): Promise<SyncSession> {
  const condition = conditionOf(userId, reference)
  const session = condition === null ? null : await db.em.findOne(SyncSession, condition, { populate: ['device'] })
  if (session === null) throw unknownSession(reference)
  return session
}
