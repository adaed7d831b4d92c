import type { FeaturePlugin } from '../../core/feature.ts'
import { openDeviceNamespace } from './events.ts'
import { REFRESH_MS, createPresence } from './presence.ts'
import { createDevices } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { devices: ReturnType<typeof createDevices> }
}

const plugin: FeaturePlugin = async (app, { config, role }) => {
  const presence = createPresence(app)
  app.decorate('devices', createDevices(app, openDeviceNamespace(app, config, presence)))

  if (role !== 'web') return
  const timer = setInterval(presence.refresh, REFRESH_MS)
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await presence.flush()
  })
}

export default plugin
