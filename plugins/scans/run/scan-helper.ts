import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import type { SharedHasher } from '../../hashing/shared-hasher.ts'
import { Task } from '../../tasks/entities.ts'
import { TaskHandedOver } from '../../tasks/definitions.ts'
import type { ScanPayload } from '../schemas.ts'
import { WAKE_CHANNEL, hasFreePart } from '../parts/part-rows.ts'

/** Lets this scan worker help with library scans that other workers lead, one at a time. */
export function createHelper (app: FastifyInstance, config: Config, hashers: SharedHasher) {
  const closing = new AbortController()
  let helping: Promise<void> | undefined
  /** The number of library scans that this process leads. */
  let leading = 0

  async function findScan (id: string): Promise<Task | null> {
    if (!await hasFreePart(app.db, id, await app.workers.listAlive())) return null
    return await app.db.em.findOne(Task, { id, status: ['queued', 'started'], cancel_requested: false })
  }

  async function help (id: string): Promise<void> {
    const task = await findScan(id)
    if (task === null) return
    const { helpScan } = await import('./run-scan.ts')
    await helpScan(app, config, {
      id,
      payload: task.payload as ScanPayload,
      role: 'helper',
      user_id: task.user_id ?? null,
      begun_at: task.started_at ?? task.created_at,
      signal: closing.signal,
      report: async () => {}
    }, { hashers })
  }

  function wake (id: string): void {
    if (leading > 0 || closing.signal.aborted) return
    helping ??= help(id).catch((err: unknown) => {
      if (!(err instanceof TaskHandedOver)) app.log.error({ err, task: id }, 'this worker could not help with a scan')
    }).finally(() => { helping = undefined })
  }

  return {
    listen: () => app.workers.listen(WAKE_CHANNEL, wake),

    /** Runs a scan that this process leads, and helps with none in the meantime. */
    async lead (work: () => Promise<void>): Promise<void> {
      leading++
      try {
        await work()
      } finally {
        leading--
      }
    },

    /** Ends the help, and leaves unfinished parts to other workers. */
    async close (): Promise<void> {
      closing.abort(new TaskHandedOver('The worker is shutting down'))
      await helping
    }
  }
}
