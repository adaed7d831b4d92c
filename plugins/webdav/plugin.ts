import type { FeaturePlugin } from '../../core/feature.ts'
import { selectAllDiskPaths, selectDiskPaths } from './rows.ts'
import { type Webdav, createWebdav } from './service.ts'
import { OWN_FOLDER } from './sync/own-files.ts'

const plugin: FeaturePlugin<Webdav> = async (app, { config, role }) => {
  const webdav = createWebdav(app, config)
  app.users.onDelete(async (tx, userId) => { webdav.removeOwn(tx, await selectDiskPaths(tx, userId)) })
  app.assets.addFolder({ name: OWN_FOLDER, selectNamed: selectAllDiskPaths })
  if (role === 'worker') app.tasks.onEnd(async ({ type }) => { if (type === 'scan') await webdav.assignAll() })
  return webdav
}

export default plugin
