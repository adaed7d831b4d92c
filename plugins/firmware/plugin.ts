import type { FeaturePlugin } from '../../core/feature.ts'
import { defineCleanupMissing } from './cleanup-missing.ts'
import { createFirmwareFolders } from './folder.ts'
import type { FirmwareServices } from './services.ts'

const plugin: FeaturePlugin<FirmwareServices> = async (app, { config }) => {
  app.tasks.define(defineCleanupMissing(app))
  return { library: app.library, folders: createFirmwareFolders(app, config), isVisible: app.platforms.isVisible }
}

export default plugin
