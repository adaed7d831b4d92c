import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'server-sync',
  needs: ['rest', 'database', 'auth-core', 'jobs', 'workers', 'tasks', 'permissions', 'devices', 'sync', 'assets'],
  config: () => import('./config.ts'),
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
