import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { logEvents } from './events.ts'
import { forwardLines } from './forward.ts'
import createRoutes from './routes.ts'

export default fp<FeatureOptions>(async (app, { config }) => {
  app.sockets.describe(logEvents)
  if (!config.logs.disable_viewer) forwardLines(app)
  await app.register(createRoutes(config))
}, { name: 'logs', dependencies: ['database', 'auth-core', 'sockets'] })
