import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'editing',
  needs: [
    'database', 'auth-core', 'workers', 'jobs', 'loader', 'circuits', 'permissions', 'library', 'platforms', 'roms', 'sockets'
  ],
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
