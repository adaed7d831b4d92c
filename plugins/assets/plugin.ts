import { join } from 'node:path'
import type { FeaturePlugin } from '../../core/feature.ts'
import { archiveUploads } from './restore/deleted-account-rows.ts'
import { ASSETS, createFiles } from './asset-files.ts'
import { type Forms, createForms } from './upload-form.ts'
import { createContentHashes } from './clean-up/content-hashes.ts'
import { type Janitor, createJanitor } from './clean-up/janitor.ts'
import { sweepIncoming } from './clean-up/sweep-incoming.ts'
import { reattachUploads } from './reattach-rows.ts'
import { type Assets, createAssets } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { assets: Assets & Pick<Janitor, 'addFolder'> & Pick<Forms, 'checkLength'> }
}

const plugin: FeaturePlugin<Forms> = async (app, { config, role }) => {
  const files = createFiles(config, app.store)
  const janitor = createJanitor(app, config, files)
  const forms = createForms(config, files)
  const { addFolder } = janitor
  app.decorate('assets', { ...createAssets(app, config, files), addFolder, checkLength: forms.checkLength })
  app.decorateRequest('upload', null)
  app.users.onDelete(archiveUploads)
  const hashes = createContentHashes(app, files)
  app.tasks.define(janitor.definition)
  app.tasks.define(hashes.definition)
  // A scan may bring ROMs back or rename them.
  app.tasks.onEnd(async ({ type }) => { if (type === 'scan') await reattachUploads(app.db) })
  if (role === 'worker') {
    janitor.startWithWorker()
    hashes.startWithWorker()
  }
  if (app.store.folder === null) app.addHook('onReady', () => sweepIncoming(join(config.data_dir, ASSETS)))
  return forms
}

export default plugin
