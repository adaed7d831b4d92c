import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'activity',
  needs: ['database', 'sockets', 'devices', 'permissions', 'resources', 'roms'],
  entities: () => import('./entities.ts'),
  tags: { activity: 'Current players and their games' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
