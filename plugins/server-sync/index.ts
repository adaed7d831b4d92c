import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { createFolderSync } from './folders/scan.ts'
import { watchFolders } from './folders/watch.ts'
import createRoutes from './routes.ts'
import { createRunner } from './run-sync.ts'
import { createServerSync } from './service.ts'
import { createSshSync } from './ssh/sync-device.ts'
import { defineFolderScan, definePushPull } from './tasks.ts'

export default fp<FeatureOptions>(async (app, { config, role }) => {
  const run = createRunner(app)
  const folders = createFolderSync(app, config, run)
  const serverSync = createServerSync(app, config, createSshSync(app, config, run))
  await app.register(createRoutes(serverSync))
  app.devices.onRegister(async (device) => { if (device.sync_mode === 'file_transfer') await folders.makeFolders(device) })
  const scan = defineFolderScan(config, folders)
  app.tasks.define(scan)
  app.tasks.define(definePushPull(config, serverSync))
  if (role !== 'worker' || !config.sync.folder_watcher) return

  watchFolders(app, folders.base, config.sync.folder_scan_delay, () => app.tasks.startByItself(scan.name))
}, { name: 'server-sync', dependencies: ['database', 'auth-core', 'jobs', 'workers', 'tasks', 'permissions', 'devices', 'sync', 'assets'] })
