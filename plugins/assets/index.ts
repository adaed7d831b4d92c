import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import accountRoutes from './routes/accounts.ts'
import contentRoutes from './routes/content.ts'
import { archiveUploads } from './restore/deleted-account-rows.ts'
import { createFiles } from './asset-files.ts'
import { createForms } from './upload-form.ts'
import { createContentHashes } from './clean-up/content-hashes.ts'
import { createJanitor } from './clean-up/janitor.ts'
import { reattachUploads } from './reattach-rows.ts'
import rawRoutes from './routes/raw.ts'
import saveRoutes from './routes/saves.ts'
import screenshotRoutes from './routes/screenshots.ts'
import { type Assets, createAssets } from './service.ts'
import stateRoutes from './routes/states.ts'
import versionRoutes from './routes/versions.ts'

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
  app.users.onDelete(archiveUploads)
  const hashes = createContentHashes(app, files)
  app.tasks.define(janitor.definition)
  app.tasks.define(hashes.definition)
  // A scan may bring ROMs back or rename them.
  app.tasks.onEnd(async ({ type }) => { if (type === 'scan') await reattachUploads(app.pg) })
  if (role !== 'worker') return
  janitor.startWithWorker()
  hashes.startWithWorker()
}, {
  name: 'assets',
  dependencies: ['database', 'auth-core', 'tasks', 'audit', 'users', 'devices', 'permissions', 'resources', 'roms', 'sync']
})
