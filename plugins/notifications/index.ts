import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'

export default fp<FeatureOptions>(async () => {}, {
  name: 'notifications', dependencies: ['database', 'sockets', 'channels', 'tasks', 'users']
})
