import type { FeaturePlugin } from '../../core/feature.ts'
import { deviceInstallEvents } from './events.ts'
import { type Installs, createInstalls } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { installs: Installs }
}

const CLEAN_UP_MS = 60 * 60_000

const plugin: FeaturePlugin = async (app, { config }) => {
  app.devices.describe(deviceInstallEvents)
  app.decorate('installs', createInstalls(app, config))
  app.upkeep.repeat(CLEAN_UP_MS, () => app.installs.purge(), 'ended install requests could not be deleted')
}

export default plugin
