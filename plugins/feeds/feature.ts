import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'feeds',
  needs: ['auth-core', 'tasks', 'permissions', 'platforms', 'resources', 'roms'],
  config: () => import('./config.ts'),
  tags: { feeds: 'Lists of games for consoles and launchers' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
