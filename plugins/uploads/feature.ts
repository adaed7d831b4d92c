import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'uploads',
  needs: ['database', 'auth-core', 'workers', 'library', 'platforms', 'tasks', 'scans'],
  config: () => import('./config.ts'),
  entities: () => import('./entities.ts'),
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
