import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import accountRoutes from './account-routes.ts'
import contentRoutes from './content-routes.ts'
import { keepUploads } from './deleted-account-rows.ts'
import { createFiles } from './files.ts'
import { createForms } from './form.ts'
import { createJanitor } from './janitor.ts'
import { reattachUploads } from './reattach-rows.ts'
import rawRoutes from './raw-routes.ts'
import saveRoutes from './save-routes.ts'
import screenshotRoutes from './screenshot-routes.ts'
import { type Assets, createAssets } from './service.ts'
import stateRoutes from './state-routes.ts'
import versionRoutes from './version-routes.ts'

declare module 'fastify' {
  interface FastifyInstance { assets: Assets }
}

export default fp<FeatureOptions>(async (app, { config, role }) => {
  const files = createFiles(config)
  const forms = createForms(config, files)
  const janitor = createJanitor(app, config, files)
  app.decorate('assets', createAssets(app, config, files))
  app.decorateRequest('upload', null)
  await app.register(async (routes) => {
    routes.addHook('onRequest', forms.checkLength)
    routes.addHook('onSend', forms.discard)
    await routes.register(saveRoutes(forms))
    await routes.register(stateRoutes(forms))
    await routes.register(screenshotRoutes(forms))
    await routes.register(versionRoutes(forms))
    await routes.register(contentRoutes)
  })
  await app.register(accountRoutes)
  await app.register(rawRoutes)
  app.users.onDelete(keepUploads)
  app.tasks.define(janitor.definition)
  // A ROM may be in the library again, and some have another name.
  app.tasks.onEnd(async ({ type }) => { if (type === 'scan') await reattachUploads(app.pg) })
  if (role === 'worker') janitor.startWithWorker()
}, {
  name: 'assets',
  dependencies: ['database', 'auth-core', 'tasks', 'audit', 'users', 'devices', 'permissions', 'resources', 'roms', 'sync']
})
