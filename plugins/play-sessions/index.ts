import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'

export default fp<FeatureOptions>(async () => {}, {
  name: 'play-sessions', dependencies: ['database', 'auth-core', 'devices', 'roms']
})
