import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'

export default fp<FeatureOptions>(async () => {}, {
  name: 'activity', dependencies: ['database', 'sockets', 'devices', 'permissions', 'roms']
})
