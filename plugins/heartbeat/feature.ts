import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'heartbeat',
  needs: [
    'database', 'workers', 'jobs', 'loader', 'mail', 'permissions', 'users', 'library', 'platforms', 'setup',
    'circuits'
  ],
  tags: { heartbeat: 'The state and the features of the server' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
