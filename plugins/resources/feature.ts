import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'resources',
  needs: ['rest', 'database', 'auth-core', 'tasks'],
  config: () => import('./config.ts'),
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
