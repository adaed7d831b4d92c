import type { FeaturePlugin } from '../../core/feature.ts'
import { archiveUploads } from './restore/deleted-account-rows.ts'
import { createFiles } from './asset-files.ts'
import { type Forms, createForms } from './upload-form.ts'
import { createContentHashes } from './clean-up/content-hashes.ts'
import { type Janitor, createJanitor } from './clean-up/janitor.ts'
import { reattachUploads } from './reattach-rows.ts'
import { type Assets, createAssets } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { assets: Assets & Pick<Janitor, 'addFolder'> }
}

const plugin: FeaturePlugin<Forms> = async (app, { config, role }) => {
  const files = createFiles(config)
  const janitor = createJanitor(app, config, files)
  app.decorate('assets', { ...createAssets(app, config, files), addFolder: janitor.addFolder })
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
  return createForms(config, files)
}

export default plugin
