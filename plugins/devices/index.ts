import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { openDeviceNamespace } from './events.ts'
import { REFRESH_MS, createPresence } from './presence.ts'
import routes from './routes.ts'
import { createDevices } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { devices: ReturnType<typeof createDevices> }
}

export default fp<FeatureOptions>(async (app, { config, role }) => {
  const presence = createPresence(app)
  app.decorate('devices', createDevices(app, openDeviceNamespace(app, config, presence)))
  await app.register(routes)

  if (role !== 'web') return
  const timer = setInterval(presence.refresh, REFRESH_MS)
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await presence.settled()
  })
}, { name: 'devices', dependencies: ['database', 'auth-core', 'sockets', 'audit'] })
