import type { FastifyInstance } from 'fastify'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { notFound } from '../../../core/errors.ts'
import type { Device } from '../../devices/entities.ts'
import { type Counts, SyncSession } from '../entities.ts'
import type { PublishSync } from '../events.ts'
import type { SessionName } from '../session-name.ts'
import { beginPending, upsertPending, writeCounts, writeEnd, writePlanned } from './server-session-rows.ts'

const ERROR_MAX = 1_000

/** Sessions in which the server itself syncs a device. */
export function createRuns (app: FastifyInstance, publish: PublishSync) {
  return {
    /** Returns the pending session of a device, or creates one; a device has at most one. @throws ApiError NOT_FOUND */
    async request (db: Db, device: Device): Promise<SyncSession> {
      const id = await inTransaction(db, (tx) => upsertPending(tx, device.user.id, device.id))
      if (id === null) throw notFound(`Device with ID '${device.device_id}' not found`)
      return await db.em.findOneOrFail(SyncSession, { id }, { populate: ['device'], refresh: true })
    },

    /** @returns null if the session is no longer pending */
    async begin (id: number, syncMode: string): Promise<SessionName | null> {
      const session = await beginPending(app.db, id)
      if (session !== null) publish(session, 'started', { sync_mode: syncMode })
      return session
    },

    plan: (session: SessionName, planned: number): Promise<void> => writePlanned(app.db, session.id, planned),

    async progress (session: SessionName, counts: Counts, planned: number, file: string | null): Promise<void> {
      await writeCounts(app.db, session.id, counts)
      const done = counts.operations_completed + counts.operations_failed
      publish(session, 'progress', { operations_completed: done, operations_planned: planned, current_file: file })
    },

    conflict (
      session: SessionName, conflict: { file_name: string, rom_id: number, rom_name: string, reason: string }
    ): void {
      publish(session, 'conflict', conflict)
    },

    /** Publishes an error that does not end the session. */
    warn (session: SessionName, error: string): void {
      publish(session, 'error', { error: error.slice(0, ERROR_MAX) })
    },

    async complete (session: SessionName, counts: Counts): Promise<void> {
      await writeEnd(app.db, session.id, 'COMPLETED', null)
      publish(session, 'completed', counts)
    },

    async fail (session: SessionName, error: string): Promise<void> {
      const text = error.slice(0, ERROR_MAX)
      await writeEnd(app.db, session.id, 'FAILED', text)
      publish(session, 'error', { error: text })
    }
  }
}
