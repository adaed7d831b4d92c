import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'

export default fp<FeatureOptions>(async () => {}, {
  name: 'installs', dependencies: ['database', 'sockets', 'devices', 'roms', 'notifications']
})
