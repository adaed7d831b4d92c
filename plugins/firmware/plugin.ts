import type { FeaturePlugin } from '../../core/feature.ts'
import { createKeyedQueue } from '../../core/concurrency/keyed-queue.ts'
import { defineCleanupMissing } from './cleanup-missing.ts'
import { createFirmwareFolders } from './folder.ts'
import type { FirmwareServices } from './services.ts'

/** The most changes that wait for a running one, in each web worker. */
const WAITING_MAX = 50
const KEY = 'firmware'

const plugin: FeaturePlugin<FirmwareServices> = async (app, { config }) => {
  app.tasks.define(defineCleanupMissing(app))
  const inOrder = createKeyedQueue(WAITING_MAX, 'changes of firmware')
  return {
    library: app.library,
    folders: createFirmwareFolders(app, config),
    isVisible: app.platforms.isVisible,
    runAlone: (work) => inOrder(KEY, () => app.workers.runAlone(KEY, work))
  }
}

export default plugin
