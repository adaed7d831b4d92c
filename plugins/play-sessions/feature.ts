import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'play-sessions',
  needs: ['database', 'auth-core', 'devices', 'permissions', 'roms'],
  entities: () => import('./entities.ts'),
  tags: { 'play-sessions': 'Played games and play time' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
