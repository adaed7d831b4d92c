import type { FastifyInstance } from 'fastify'
import type { FeaturePlugin } from '../../core/feature.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError } from '../../core/errors.ts'
import { tasksConfig } from '../tasks/config.ts'
import { defineTask } from '../tasks/define-task.ts'
import type { TaskDefinition } from '../tasks/definitions.ts'
import { defineCleanupMissing } from './disk/cleanup-missing.ts'
import { defineCleanupResources } from '../artwork/cleanup-resources.ts'
import { describeScans, listenForScans } from './events.ts'
import { hideFromReports } from './hide-from-reports.ts'
import type { ScanPayload } from './schemas.ts'
import { createScans } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { scans: ReturnType<typeof createScans> }
}

/** A quick scan of the whole library with every enabled provider. */
const QUICK_SCAN: ScanPayload = {
  type: 'quick', platforms: [], platform_fs_slugs: [], roms_ids: []
}

function defineRescan (app: FastifyInstance, config: Config): TaskDefinition {
  return defineTask({
    name: 'scan_library',
    title: 'Scheduled rescan',
    description: 'Quick scan of all platforms with every enabled provider',
    type: 'scan',
    enabled: tasksConfig.of(config).scheduled_rescan,
    cron_string: tasksConfig.of(config).scheduled_rescan_cron,
    async run () {
      try {
        await app.scans.request(QUICK_SCAN, null)
      } catch (err) {
        if (!(err instanceof ApiError) || err.code !== 'CONFLICT') throw err
        app.log.info('no scheduled rescan: a scan is already in progress')
      }
    },
    // Returns the scan itself, because the caller can then follow it.
    startInstead: (userId) => app.scans.request(QUICK_SCAN, userId)
  })
}

const plugin: FeaturePlugin = async (app, { config, role }) => {
  app.decorate('scans', createScans(app, config))
  describeScans(app)
  listenForScans(app)
  app.tasks.filterReports(hideFromReports)
  const definitions = [defineRescan(app, config), defineCleanupResources(app, config), defineCleanupMissing(app)]
  for (const definition of definitions) app.tasks.define(definition)
  if (role !== 'worker') return
  app.addHook('onReady', () => app.scans.helper.listen())
  app.addHook('preClose', () => app.scans.helper.close())
}

export default plugin
