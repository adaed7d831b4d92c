import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'notifications',
  needs: ['database', 'auth-core', 'sockets', 'channels', 'tasks', 'users', 'circuits', 'loader'],
  entities: () => import('./entities.ts'),
  tags: { notifications: 'The inbox of a user' },
  events: async () => (await import('./events.ts')).notificationEvents,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
