import type { FeaturePlugin } from '../../core/feature.ts'
import { defineConversionCleanup } from './cleanup.ts'
import { isConverting } from './rows.ts'
import { recoverConversions } from './swap-files.ts'
import { TASK_NAME, defineConversion } from './task.ts'

const plugin: FeaturePlugin = async (app, { config, role }) => {
  app.tasks.define(defineConversion(app, config))
  app.tasks.define(defineConversionCleanup(app))

  async function recover (): Promise<void> {
    const services = { db: app.db, library: app.library }
    for (const err of await recoverConversions(services, !await isConverting(app.db, TASK_NAME))) {
      app.log.warn({ err }, 'an interrupted conversion could not be finished; the next scan or conversion tries again')
    }
  }

  // A scan must see a whole conversion, or none of it.
  app.scans.addBeforeScan(recover)
  if (role === 'worker') app.addHook('onReady', recover)
}

export default plugin
