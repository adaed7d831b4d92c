import type { FastifyInstance } from 'fastify'
import type { Db } from '../../../core/database/db.ts'
import { createCompletion } from './complete-session.ts'
import { SyncSession } from '../entities.ts'
import type { PublishSync } from '../events.ts'
import { conditionOf, getSession } from './find-session.ts'
import type { ListSyncSessionsQuery, SessionSummary } from '../schemas.ts'
import { countOperation, deleteEnded, expireSessions } from './session-rows.ts'

const EXPIRES_HOURS = 24
const KEPT_DAYS = 30
const EXPIRED = `The device did not complete the session within ${EXPIRES_HOURS} hours`

export function createSessions (app: FastifyInstance, publish: PublishSync) {
  return {
    get: getSession,
    complete: createCompletion(app, publish),

    async list (db: Db, userId: number, query: ListSyncSessionsQuery): Promise<SessionSummary[]> {
      const { device_id: reference, limit, offset } = query
      const device = reference === undefined ? null : await app.devices.lookUp(db, userId, reference)
      if (reference !== undefined && device === null) return []
      return await db.em.find(SyncSession, { user: userId, ...(device === null ? {} : { device }) }, {
        populate: ['device'], orderBy: { id: 'desc' }, limit, offset, exclude: ['downloads', 'completed_answer']
      })
    },

    /** Counts a transfer in an open session of the user; ignores other sessions. */
    async countTransfer (
      db: Db, userId: number, reference: number | string, { file_name: file }: { file_name: string }
    ): Promise<void> {
      const condition = conditionOf(userId, reference)
      if (condition === null) return
      const row = await countOperation(db, userId, condition)
      if (row === undefined) return
      const { operations_completed: completed, operations_planned: planned } = row
      publish(row, 'progress', { operations_completed: completed, operations_planned: planned, current_file: file })
    },

    /** Fails sessions that were not completed in time, and deletes sessions that ended long ago. */
    async expire (): Promise<void> {
      for (const session of await expireSessions(app.db, EXPIRES_HOURS, EXPIRED)) publish(session, 'error', { error: EXPIRED })
      await deleteEnded(app.db, KEPT_DAYS)
    }
  }
}
