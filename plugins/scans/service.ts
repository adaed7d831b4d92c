import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config.ts'
import { ApiError } from '../../core/errors.ts'
import type { Task } from '../tasks/entities.ts'
import type { TaskRun } from '../tasks/service.ts'
import type { ScanPayload, ScanType } from './schemas.ts'
import { type AfterScan, runScan } from './scan.ts'

const SCAN_QUEUE = 'scan'
const LIBRARY_LOCK = 'scan:library'
/** A scan of single ROMs goes ahead of waiting library scans. */
const ROMS_PRIORITY = 10

const TITLES: Record<ScanType, string> = {
  new_platforms: 'New Platforms Scan', quick: 'Quick Scan', update: 'Update Scan', unmatched: 'Unmatched Scan',
  complete: 'Complete Scan', hashes: 'Hashes Scan'
}

export const NO_WORKER = 'No scan worker is running'

export function createScans (app: FastifyInstance, config: Config) {
  const after: AfterScan[] = []

  function fail (message: string): void {
    app.sockets.publish(null, 'scan:done_ko', message)
  }

  app.tasks.addRunner(SCAN_QUEUE, {
    timeoutSeconds: config.scan.timeout_seconds,
    async run (run) {
      try {
        const { stats } = await runScan(app, config, run as TaskRun<ScanPayload & Record<string, unknown>>, after)
        app.sockets.publish(null, 'scan:done', stats)
      } catch (err) {
        await end(run, err)
      }
    },
    async onLost () {
      fail('The scan was given up: its worker died too often. See the log of the server.')
    }
  }, 1)

  /** A stopped scan ends with what it reached; one whose worker goes down is taken up by the next. */
  async function end (run: TaskRun, err: unknown): Promise<never> {
    const reason = run.signal.aborted ? run.signal.reason as Error : null
    if (reason?.name === 'TaskStopped') {
      const task = await app.tasks.get(app.orm.em.fork(), run.id)
      app.sockets.publish(null, 'scan:done', task.meta.scan_stats as never)
    } else if (reason?.name === 'TimeoutError') {
      fail(`The scan took longer than ${config.scan.timeout_seconds} s and was ended; raise SCAN_TIMEOUT`)
    } else if (reason === null) {
      fail(err instanceof Error ? err.message : String(err))
    }
    throw err
  }

  return {
    /** Adds something to do with the scanned platforms before the scan is done. */
    addAfterScan (step: AfterScan): void { after.push(step) },

    /**
     * Queues a scan.
     *
     * @throws ApiError UNAVAILABLE without a worker, CONFLICT while a library scan is queued or running.
     */
    async request (payload: ScanPayload, userId: number | null): Promise<Task> {
      if (!await app.workers.isAlive('worker')) throw new ApiError('UNAVAILABLE', NO_WORKER)
      const { playmatch_enabled: _ignored, ...rest } = payload
      const isLimited = payload.roms_ids.length > 0
      const priority = isLimited ? ROMS_PRIORITY : 0
      return await app.tasks.start({
        queue: SCAN_QUEUE,
        title: TITLES[payload.type],
        type: 'scan',
        payload: { ...rest, priority },
        lock: isLimited ? null : LIBRARY_LOCK,
        lockedMessage: 'A scan is already in progress',
        priority,
        user_id: userId
      })
    },

    /** Drops queued scans and stops the running one; it ends with `scan:done`. */
    stop: () => app.tasks.stop('scan')
  }
}
