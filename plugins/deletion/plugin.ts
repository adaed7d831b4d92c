import type { FeaturePlugin } from '../../core/feature.ts'
import { recoverDeletions } from './recover-deletions.ts'
import { createDeletion } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { deletion: ReturnType<typeof createDeletion> }
}

const plugin: FeaturePlugin = async (app, { config, role }) => {
  app.decorate('deletion', createDeletion(app, config))

  const recover = () => recoverDeletions(app, config)
  // A scan would report the moved files as missing.
  app.scans.addBeforeScan(recover)
  if (role === 'worker') app.addHook('onReady', recover)
}

export default plugin
