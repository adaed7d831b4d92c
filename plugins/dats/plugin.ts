import type { FeaturePlugin } from '../../core/feature.ts'
import { FOLDER_TASK } from './load/load-tasks.ts'
import { createDats, datFolder } from './service.ts'
import { watchDatFolder } from './watch-folder.ts'

declare module 'fastify' {
  interface FastifyInstance { dats: ReturnType<typeof createDats> }
}

const plugin: FeaturePlugin = async (app, { config, role }) => {
  const closing = new AbortController()
  app.decorate('dats', createDats(app, config))
  app.addHook('preClose', async () => { closing.abort(new Error('The worker is shutting down')) })

  app.scans.addBeforeScan(async () => {
    await app.dats.readFolder(closing.signal).catch((err: unknown) => {
      app.log.warn({ err, dir: datFolder(config) }, 'the folder of DATs could not be read; the scan goes on with the stored ones')
    })
  })
  app.scans.addAfterScan(async (_platformIds, signal) => {
    await app.dats.compare(signal)
    return []
  })
  app.editing.addAfterEdit(() => app.dats.compare(closing.signal))
  // A scan that ended early ran no steps after it.
  app.tasks.onEnd(async ({ type, status }) => {
    if (type === 'conversion' || (type === 'scan' && status !== 'finished')) await app.dats.compare(closing.signal)
  })
  if (role === 'worker') watchDatFolder(app, datFolder(config), () => app.tasks.startByItself(FOLDER_TASK))
}

export default plugin
