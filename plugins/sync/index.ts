import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'

export default fp<FeatureOptions>(async () => {}, {
  name: 'sync', dependencies: ['database', 'sockets', 'devices', 'play-sessions']
})
