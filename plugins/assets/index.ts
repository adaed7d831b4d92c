import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'

export default fp<FeatureOptions>(async () => {}, {
  name: 'assets', dependencies: ['database', 'auth-core', 'devices', 'permissions', 'roms', 'sync']
})
