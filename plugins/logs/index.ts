import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { forwardLines } from './forward.ts'
import createRoutes from './routes.ts'

export default fp<FeatureOptions>(async (app, { config }) => {
  if (!config.logs.disable_viewer) forwardLines(app)
  await app.register(createRoutes(config))
}, { name: 'logs', dependencies: ['database', 'auth-core', 'sockets'] })
