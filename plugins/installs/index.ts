import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { deviceInstallEvents, installEvents } from './events.ts'
import createRoutes from './routes.ts'
import { type Installs, createInstalls } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { installs: Installs }
}

const CLEAN_UP_MS = 60 * 60_000

export default fp<FeatureOptions>(async (app, { config, role }) => {
  app.sockets.describe(installEvents)
  app.devices.describe(deviceInstallEvents)
  app.decorate('installs', createInstalls(app, config))
  await app.register(createRoutes(config))

  if (role !== 'worker') return
  const timer = setInterval(() => {
    app.installs.purge().catch((err: unknown) => { app.log.warn({ err }, 'ended install requests were not removed') })
  }, CLEAN_UP_MS)
  app.addHook('onClose', async () => { clearInterval(timer) })
}, { name: 'installs', dependencies: ['database', 'auth-core', 'sockets', 'devices', 'roms', 'notifications'] })
