import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'audit',
  needs: ['database', 'auth-core', 'tasks'],
  entities: () => import('./entities.ts'),
  tags: { audit: 'Security events and actions of users' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
