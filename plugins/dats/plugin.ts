import type { FeaturePlugin } from '../../core/feature.ts'
import { FOLDER_TASK } from './load/load-tasks.ts'
import { createDats, datFolder } from './service.ts'
import { watchDatFolder } from './watch-folder.ts'

declare module 'fastify' {
  interface FastifyInstance { dats: ReturnType<typeof createDats> }
}

const NOT_COMPARED = 'the library could not be compared with the DAT files'

const plugin: FeaturePlugin = async (app, { config }) => {
  const closing = new AbortController()
  app.decorate('dats', createDats(app, config))
  app.addHook('preClose', async () => { closing.abort(new Error('The worker is shutting down')) })

  /** Compares ROMs that changed. A failure stops no scan and no edit, because the next comparison repeats the work. */
  async function compare (signal: AbortSignal): Promise<boolean> {
    try {
      await app.dats.compare(signal)
      return true
    } catch (err) {
      signal.throwIfAborted()
      app.log.warn({ err }, NOT_COMPARED)
      return false
    }
  }

  app.scans.addBeforeScan(async () => {
    await app.dats.readFolder(closing.signal).catch((err: unknown) => {
      app.log.warn({ err, dir: datFolder(config) }, 'the folder of DATs could not be read; the scan goes on with the stored ones')
    })
  })
  app.scans.addAfterScan(async (_platformIds, signal) => {
    const isCompared = await compare(signal)
    return isCompared ? [] : [{ platform: '', path: '', reason: `${NOT_COMPARED}; see the log of the server` }]
  })
  app.editing.addAfterEdit(async () => { await compare(closing.signal) })
  // A scan that ended early ran no steps after it.
  app.tasks.onEnd(async ({ type, status }) => {
    if (type === 'conversion' || (type === 'scan' && status !== 'finished')) await compare(closing.signal)
  })
  if (app.upkeep.isHere) watchDatFolder(app, datFolder(config), () => app.tasks.startAutomatically(FOLDER_TASK))
}

export default plugin
