import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'stats',
  needs: ['database', 'auth-core', 'tasks', 'permissions', 'roms', 'play-sessions'],
  entities: () => import('./entities.ts'),
  tags: { stats: 'Size of the library, and play time' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
