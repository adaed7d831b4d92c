import type { FeaturePlugin } from '../../core/feature.ts'
import { deviceInstallEvents } from './events.ts'
import { type Installs, createInstalls } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { installs: Installs }
}

const CLEAN_UP_MS = 60 * 60_000

const plugin: FeaturePlugin = async (app, { config, role }) => {
  app.devices.describe(deviceInstallEvents)
  app.decorate('installs', createInstalls(app, config))

  if (role !== 'worker') return
  const timer = setInterval(() => {
    app.installs.purge().catch((err: unknown) => { app.log.warn({ err }, 'ended install requests could not be deleted') })
  }, CLEAN_UP_MS)
  app.addHook('onClose', async () => { clearInterval(timer) })
}

export default plugin
