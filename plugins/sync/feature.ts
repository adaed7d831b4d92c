import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'sync',
  needs: ['database', 'auth-core', 'sockets', 'tasks', 'devices', 'play-sessions'],
  entities: () => import('./entities.ts'),
  tags: { sync: 'The saves and states that a device and the server exchange' },
  events: async () => (await import('./events.ts')).syncEvents,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
