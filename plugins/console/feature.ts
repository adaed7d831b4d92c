import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'console',
  needs: ['auth-core', 'heartbeat'],
  config: () => import('./config.ts'),
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
