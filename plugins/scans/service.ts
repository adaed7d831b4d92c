import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { createPathMask } from '../../core/config/path-mask.ts'
import type { Task } from '../tasks/entities.ts'
import type { TaskRun } from '../tasks/definitions.ts'
import { createSharedHasher } from '../hashing/shared-hasher.ts'
import type { AfterScan, BeforeScan } from './run/run-scan.ts'
import { type ScanPayload, type ScanStats, createStats } from './schemas.ts'
import { createHelper } from './run/scan-helper.ts'
import { createScanMeasures } from './progress/scan-metrics.ts'
import type { ScanType } from '../matching/scan-types.ts'
import type { PlatformFolderRef } from './rom-rows.ts'

const SCAN_QUEUE = 'scan'
const LIBRARY_LOCK = 'scan:library'
/** Scans of single ROMs go ahead of waiting library scans. */
const ROMS_PRIORITY = 10

const TITLES: Record<ScanType, string> = {
  new_platforms: 'New Platforms Scan', quick: 'Quick Scan', update: 'Update Scan', unmatched: 'Unmatched Scan',
  complete: 'Complete Scan', hashes: 'Hashes Scan'
}

export function createScans (app: FastifyInstance, config: Config) {
  const after: AfterScan[] = []
  const before: BeforeScan[] = []
  const hashers = createSharedHasher(app)
  const helper = createHelper(app, config, hashers)
  const mask = createPathMask(config)

  app.tasks.addRunner(SCAN_QUEUE, {
    concurrency: 1,
    timeoutName: 'SCAN_TIMEOUT',
    timeoutSeconds: config.scan.timeout_seconds,
    // Only the process that scans loads this code, before its first scan.
    async run (run) {
      const { runScan } = await import('./run/run-scan.ts')
      const { payload, ...rest } = run as TaskRun<ScanPayload & Record<string, unknown>>
      const role = payload.roms_ids.length > 0 || payload.fs_names !== undefined ? 'single' : 'leader'
      const scan = () => runScan(app, config, { ...rest, payload, role }, { hashers, before, after })
      return role === 'leader' ? await helper.lead(scan) : await scan()
    }
  })

  // Clients may ask for the next scan only now, because it is refused while the row of this one is running.
  app.tasks.onEnd(({ type, task_key: key, status, error, meta }) => {
    if (type !== 'scan' || typeof key === 'string') return
    if (status === 'failed') app.sockets.publish(null, 'scan:done_ko', mask(error ?? 'The scan failed; see the log of the server'))
    else app.sockets.publish(null, 'scan:done', (meta.scan_stats ?? createStats()) as ScanStats)
  })

  const queue = (payload: ScanPayload, isLimited: boolean, userId: number | null): Promise<Task> => {
    const priority = isLimited ? ROMS_PRIORITY : 0
    return app.tasks.start({
      queue: SCAN_QUEUE,
      title: TITLES[payload.type],
      type: 'scan',
      payload: { ...payload, priority },
      lock: isLimited ? null : LIBRARY_LOCK,
      lockedMessage: 'A scan is already in progress',
      priority,
      user_id: userId
    })
  }

  return {
    helper,
    measures: createScanMeasures(app),

    /** Adds a step that runs before a scan reads the library. */
    addBeforeScan (step: BeforeScan): void { before.push(step) },

    /** Adds a step that runs with the scanned platforms before the scan is done. */
    addAfterScan (step: AfterScan): void { after.push(step) },

    /**
     * Queues a scan.
     *
     * @throws ApiError UNAVAILABLE without a worker, CONFLICT while a library scan is queued or running.
     */
    async request (payload: ScanPayload, userId: number | null): Promise<Task> {
      await app.workers.requireScanWorker()
      const { playmatch_enabled: _ignored, ...rest } = payload
      return await queue(rest, payload.roms_ids.length > 0, userId)
    },

    /** Queues a scan of single files or folders of a platform; the scan waits if there is no worker. */
    scanEntries: (folder: PlatformFolderRef, names: readonly string[], userId: number | null): Promise<Task> => queue({
      type: 'quick', library_ids: [folder.library_id], platforms: [folder.id], platform_fs_slugs: [], roms_ids: [], fs_names: names
    }, true, userId),

    /** Queues a lookup of ROMs at the providers that know them; the scan waits if there is no worker. */
    lookUpRoms: (ids: readonly number[], userId: number | null): Promise<Task> => queue({
      type: 'update', platforms: [], platform_fs_slugs: [], roms_ids: [...ids]
    }, true, userId),

    /** Drops queued scans and stops the running one; it ends with `scan:done`. */
    stop: () => app.tasks.stop('scan')
  }
}
