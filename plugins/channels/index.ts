import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'

export default fp<FeatureOptions>(async () => {}, {
  name: 'channels', dependencies: ['database', 'auth-core', 'loader', 'jobs', 'sockets']
})
