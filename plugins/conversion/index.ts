import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { createRomStore } from '../scans/store/rom-rows.ts'
import { isConverting } from './rows.ts'
import { recoverConversions } from './swap.ts'
import { TASK_NAME, defineConversion } from './task.ts'

export default fp<FeatureOptions>(async (app, { config, role }) => {
  app.tasks.define(defineConversion(app, config))
  const recover = async () => {
    const services = { pool: app.pg, libraryDir: config.library_dir, store: createRomStore(app.pg) }
    await recoverConversions(services, !await isConverting(app.pg, TASK_NAME))
  }
  // A scan sees the whole of a conversion, or nothing of it.
  app.scans.addBeforeScan(recover)
  if (role !== 'worker') return
  app.addHook('onReady', async () => {
    await recover().catch((err: unknown) => {
      app.log.warn({ err }, 'conversions that were begun could not be ended; the next scan or conversion tries again')
    })
  })
}, { name: 'conversion', dependencies: ['database', 'jobs', 'tasks', 'library', 'scans', 'editing'] })
