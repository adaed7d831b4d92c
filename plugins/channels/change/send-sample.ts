import type { OutgoingNotification } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../../core/access/auth.ts'
import type { Context } from '../../../core/access/context.ts'
import { databaseDate } from '../../../core/database/clock.ts'
import type { Db } from '../../../core/database/db.ts'
import { badRequest } from '../../../core/errors.ts'
import { type Quota, createThrottle } from '../../auth/throttle-rows.ts'
import type { Calls } from '../host/calls.ts'
import { NotificationChannel } from '../entities.ts'
import { findChannel } from './find-channel.ts'
import { toSubject } from '../host/http.ts'
import type { TestResult } from '../schemas.ts'
import { UNREADABLE_ERROR, openSettings } from '../sealed-settings.ts'

const testQuota = (userId: number): Quota => ({ key: `channel-test:${userId}`, max: 10, seconds: 60 })

const createSample = (): OutgoingNotification => ({
  event: 'notification',
  id: 0,
  kind: 'custom',
  level: 'info',
  title: 'Test notification',
  body: 'Notifications arrive here.',
  url: null,
  data: {},
  actor: null,
  created_at: new Date().toISOString()
})

const storeSuccess = (db: Db, id: number) => db.em.nativeUpdate(NotificationChannel, { id },
  { last_delivered_at: databaseDate(), last_error: null, consecutive_failures: 0 })

/** Creates the test of a channel, which sends a sample to its destination. */
export function createSamples (app: FastifyInstance, calls: Calls) {
  const throttle = createThrottle(app.db)

  /** Sends a sample. @returns the error, or null */
  async function deliverSample (caller: Caller, row: NotificationChannel): Promise<string | null> {
    const stored = openSettings(app.secrets, row.sealed)
    if (stored === null) return UNREADABLE_ERROR
    const outcome = await calls.deliver(caller.id, toSubject(row.type, stored, caller.role === 'admin'), createSample())
    return outcome.ok ? null : outcome.failure.message
  }

  return {
    /** @throws ApiError BAD_REQUEST if the channel is not confirmed. */
    async test (context: Context, id: number): Promise<TestResult> {
      const { db, caller } = context
      const row = await findChannel(context, id)
      if (!row.confirmed) throw badRequest(`The channel '${row.name}' is not confirmed yet; enter the code that was sent`)
      await throttle.countUse(testQuota(caller.id))
      const error = await deliverSample(caller, row)
      if (error === null) await storeSuccess(db, id)
      else await db.em.nativeUpdate(NotificationChannel, { id }, { last_error: error })
      return { ok: error === null, error }
    }
  }
}
