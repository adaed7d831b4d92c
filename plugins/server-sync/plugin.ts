import type { FeaturePlugin } from '../../core/feature.ts'
import { syncConfig } from './config.ts'
import { createFolderSync } from './folders/scan.ts'
import { watchFolders } from './folders/watch.ts'
import { type ServerSync, createServerSync } from './service.ts'
import { createSshSync } from './ssh/sync-device.ts'
import { defineFolderScan, definePushPull } from './tasks.ts'

const plugin: FeaturePlugin<ServerSync> = async (app, { config, role }) => {
  const folders = createFolderSync(app, config)
  const serverSync = createServerSync(app, config, createSshSync(app, config))
  app.devices.onRegister(async (device) => { if (device.sync_mode === 'file_transfer') await folders.createFolders(device) })
  const scan = defineFolderScan(config, folders)
  app.tasks.define(scan)
  app.tasks.define(definePushPull(config, serverSync))
  if (role === 'worker' && syncConfig.of(config).folder_watcher) {
    app.rest.addSource({ name: 'the watch of the folders of devices', hasWork: () => true })
    const { folder_scan_delay: delay } = syncConfig.of(config)
    watchFolders(app, folders.base, delay, () => app.tasks.startAutomatically(scan.name))
  }
  return serverSync
}

export default plugin
