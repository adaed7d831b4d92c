import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'notes',
  needs: ['database', 'auth-core', 'permissions', 'roms', 'users', 'sockets'],
  entities: () => import('./entities.ts'),
  events: async () => (await import('./events.ts')).noteEvents,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
