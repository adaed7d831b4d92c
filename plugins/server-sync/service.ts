import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { badRequest } from '../../core/errors.ts'
import { tasksConfig } from '../tasks/config.ts'
import { Device } from '../devices/entities.ts'
import type { SyncSession } from '../sync/entities.ts'
import { selectSshDevices } from './rows.ts'
import { requireHost } from './ssh/settings.ts'

const QUEUE = 'device-sync'
const CONCURRENCY = 2

interface Job { session_id: number }
/** Runs a pending session. */
export type SyncDevice = (sessionId: number, signal: AbortSignal) => Promise<void>

/** Creates the queue of syncs that the server starts. */
export function createServerSync (app: FastifyInstance, config: Config, syncDevice: SyncDevice) {
  const closing = new AbortController()
  const { timeout_seconds: timeout } = tasksConfig.of(config)

  app.jobs.define<Job>(QUEUE, {
    concurrency: CONCURRENCY,
    timeoutSeconds: timeout,
    async run ({ session_id: id }, signal) {
      const limit = AbortSignal.timeout(timeout * 1_000)
      await syncDevice(id, AbortSignal.any([signal, closing.signal, limit]))
      return null
    }
  })
  // Abort before the queue waits for its jobs to finish.
  app.addHook('preClose', async () => { closing.abort(new Error('The server is shutting down')) })

  async function queue (db: Db, device: Device): Promise<SyncSession> {
    const session = await app.sync.runs.request(db, device)
    await app.jobs.send(QUEUE, { session_id: session.id }, { group: device.device_id })
    return session
  }

  return {
    /** Queues the sync of a device over SSH. @throws ApiError NOT_FOUND, BAD_REQUEST, UNAVAILABLE */
    async request ({ db, caller }: Context, reference: number | string): Promise<SyncSession> {
      const device = await app.devices.find(db, caller.id, reference)
      if (device.sync_mode !== 'push_pull') {
        throw badRequest(`The sync mode of the device is '${device.sync_mode}'; set it to 'push_pull' to sync over SSH`)
      }
      app.devices.requireSync(device)
      requireHost(device)
      await app.workers.requireScanWorker()
      return await queue(db, device)
    },

    /** Queues the syncs of all devices that can be synced over SSH. */
    async requestAll (signal: AbortSignal): Promise<void> {
      for (const id of await selectSshDevices(app.db)) {
        signal.throwIfAborted()
        const db = app.db
        const device = await db.em.findOne(Device, { id })
        if (device !== null) await queue(db, device)
      }
    }
  }
}
export type ServerSync = ReturnType<typeof createServerSync>
