import { createHash } from 'node:crypto'
import { LockMode } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import { databaseDate } from '../../../core/database/clock.ts'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { badRequest } from '../../../core/errors.ts'
import { type PlannedDownload, SyncSession } from '../entities.ts'
import type { PublishSync } from '../events.ts'
import { getSession, unknownSession } from './find-session.ts'
import { listBases, upsertBases, upsertDeviceSyncs } from '../rows.ts'
import type { CompleteBody, SyncCompleteAnswer } from '../schemas.ts'
import type { SessionName } from '../session-name.ts'
import { selectOffered } from './session-rows.ts'
import { toSessionView } from '../views.ts'

const countsOf = ({ operations_completed: completed, operations_failed: failed }: CompleteBody) =>
  ({ operations_completed: completed, operations_failed: failed })

/** Returns a hash of a completing request's body that does not depend on the order of keys. */
function fingerprint (body: CompleteBody): string {
  const text = JSON.stringify(body, (_key, value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
    : value)
  return createHash('sha256').update(text).digest('hex')
}

/**
 * True if a session can be completed. An expired session can, and only an expired one is failed without an end time.
 */
const isOpen = ({ status, completed_at: at }: SyncSession) =>
  status === 'PENDING' || status === 'IN_PROGRESS' || (status === 'FAILED' && (at ?? null) === null)

/**
 * True if the device reports that it carried out all operations. Confirming a download that did not happen would make
 * the device's old file look like a change. A download that happened but is not confirmed shows up in the next
 * negotiation.
 */
const isWhole = ({ operations_planned: planned }: SyncSession, body: CompleteBody) =>
  body.operations_failed === 0 && body.operations_completed >= planned

/** Stores the bases of a session's downloads whose content is still current on the server. */
async function confirmDownloads (
  db: Db, deviceId: number, downloads: readonly PlannedDownload[]
): Promise<void> {
  const rows = await selectOffered(db, downloads)
  await upsertDeviceSyncs(db, deviceId, rows)
  await upsertBases(db, deviceId, listBases(rows))
}

const nameOf = (session: SyncSession): SessionName => ({
  id: session.id, session_id: session.session_id, user_id: session.user.id, device: session.device
})

/** Creates the function that completes sessions. */
export function createCompletion (app: FastifyInstance, publish: PublishSync) {
  async function findForUpdate (tx: Db, userId: number, reference: string): Promise<SyncSession> {
    const { id, device } = await getSession(tx, userId, reference)
    await app.devices.lock(tx, device)
    const session = await tx.em.findOne(SyncSession, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true })
    if (session === null) throw unknownSession(reference)
    await tx.em.populate(session, ['device'])
    return session
  }

  async function ingest (tx: Db, { id, user, device }: SyncSession, entries: CompleteBody['play_sessions']) {
    if (entries === undefined || entries === null) return null
    return await app.playSessions.ingest(tx, { user_id: user.id, device_id: device.id, sync_session_id: id, entries })
  }

  /** @returns the answer, and the session; null for the session if the same request completed it before */
  async function close (tx: Db, userId: number, reference: string, body: CompleteBody) {
    const session = await findForUpdate(tx, userId, reference)
    const completedWith = fingerprint(body)
    if (session.completed_with === completedWith && session.completed_answer) {
      return { answer: session.completed_answer as SyncCompleteAnswer, completed: null }
    }
    if (!isOpen(session)) {
      throw badRequest(`Sync session '${reference}' is ${session.status} already; negotiate to open another one`)
    }
    await app.devices.touch(tx, session.device.id)
    if (isWhole(session, body)) await confirmDownloads(tx, session.device.id, session.downloads)
    const ingested = await ingest(tx, session, body.play_sessions)
    const now = databaseDate()
    await tx.em.nativeUpdate(SyncSession, { id: session.id }, {
      ...countsOf(body), status: 'COMPLETED', error_message: null, completed_at: now, updated_at: now,
      completed_with: completedWith, downloads: []
    })
    await tx.em.refreshOrFail(session, { populate: ['device'] })
    const answer: SyncCompleteAnswer = { session: toSessionView(session), play_session_ingest: ingested }
    await tx.em.nativeUpdate(SyncSession, { id: session.id }, { completed_answer: answer })
    return { answer, completed: nameOf(session) }
  }

  /** Completes a session, optionally with play sessions. A repeated request gets the same answer. */
  return async function complete (
    db: Db, userId: number, reference: string, body: CompleteBody
  ): Promise<SyncCompleteAnswer> {
    const { answer, completed } = await inTransaction(db, (tx) => close(tx, userId, reference, body))
    if (completed !== null) publish(completed, 'completed', countsOf(body))
    return answer
  }
}
