import type { FeaturePlugin } from '../../core/feature.ts'
import { createAloneQueue } from '../../core/jobs/alone-queue.ts'
import { defineCleanupMissing } from './cleanup-missing.ts'
import { createFirmwareFolders } from './folder.ts'
import type { FirmwareServices } from './services.ts'

/** The most changes that wait for a running one, in each web worker. */
const WAITING_MAX = 50

const plugin: FeaturePlugin<FirmwareServices> = async (app, { config }) => {
  app.tasks.define(defineCleanupMissing(app))
  const runAlone = createAloneQueue(app.workers, WAITING_MAX, 'changes of firmware')
  return {
    library: app.library,
    folders: createFirmwareFolders(app, config),
    isVisible: app.platforms.isVisible,
    runAlone: (work) => runAlone('firmware', work)
  }
}

export default plugin
