import type { FastifyInstance } from 'fastify'
import type { FeaturePlugin } from '../../core/feature.ts'
import type { Config } from '../../core/config/config.ts'
import { tasksConfig } from '../tasks/config.ts'
import { defineTask } from '../tasks/define-task.ts'
import type { TaskDefinition } from '../tasks/definitions.ts'
import { WATCHER_NAME, WATCHER_TITLE, createScheduledRows } from './scheduled-rows.ts'
import { type WaitingScan, createWaitingScan } from './waiting-scan.ts'
import { type LibraryWatches, createLibraryWatches } from './all-watches.ts'

declare module 'fastify' {
  interface FastifyInstance {
    watcher: {
      /** True if this process watches the libraries and has set up its watches. */
      isWatching (): boolean
    }
  }
}

/** The interval at which a worker checks whether the watching worker is gone. */
const CLAIM_MS = 5_000
const MINUTE_MS = 60_000

function defineWatcher (config: Config): TaskDefinition {
  const { rescan_on_filesystem_change: enabled, rescan_on_filesystem_change_delay: delay } = tasksConfig.of(config)
  return defineTask({
    name: WATCHER_NAME,
    title: WATCHER_TITLE,
    description: `Quick scan of the platforms in which files were added or deleted, after ${delay} minutes without a change`,
    type: 'watcher',
    group: 'watcher',
    enabled,
    manual_run: false,
    run: () => Promise.reject(new Error('The watcher queues scans by itself and cannot be run as a task'))
  })
}

/** Creates a watcher, which runs once no other worker watches, for the life of the process. */
function createWatcher (app: FastifyInstance, config: Config) {
  const delayMs = tasksConfig.of(config).rescan_on_filesystem_change_delay * MINUTE_MS
  const claimMs = Math.min(CLAIM_MS, delayMs)
  let running: { watch: LibraryWatches, scan: WaitingScan } | null = null
  let timer: NodeJS.Timeout | undefined
  let starting: Promise<void> = Promise.resolve()
  let isWatching = false
  let isClosed = false

  function claimSoon (ms: number): void {
    if (isClosed) return
    timer = setTimeout(() => {
      starting = start().catch((err: unknown) => { app.log.error({ err }, 'the library watcher could not start') })
        .finally(() => { if (running === null) claimSoon(claimMs) })
    }, ms)
  }

  async function start (): Promise<void> {
    if (!await app.workers.claim(WATCHER_NAME) || isClosed) return
    const scan = createWaitingScan(app, delayMs, () => watch.hasPlatforms())
    await scan.resume()
    const watch = createLibraryWatches(app, { onChange: scan.change, onWrite: scan.write })
    running = { watch, scan }
    void watch.idle().then(() => { isWatching = !isClosed })
  }

  return {
    isWatching: () => isWatching,
    open: () => { claimSoon(0) },
    async close () {
      isClosed = true
      isWatching = false
      clearTimeout(timer)
      await starting
      await running?.watch.close()
      await running?.scan.close()
    }
  }
}

const plugin: FeaturePlugin = async (app, { config, role }) => {
  app.tasks.define(defineWatcher(config))
  const watcher = createWatcher(app, config)
  app.decorate('watcher', { isWatching: watcher.isWatching })
  if (role !== 'worker') return
  const { rescan_on_filesystem_change: isOn } = tasksConfig.of(config)
  if (isOn) app.rest.addSource({ name: 'the watch of the libraries', hasWork: () => true })
  app.addHook('onReady', async () => {
    if (isOn) watcher.open()
    else await createScheduledRows(app.db).cancel()
  })
  app.addHook('preClose', watcher.close)
}

export default plugin
