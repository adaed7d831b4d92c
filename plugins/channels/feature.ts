import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'channels',
  needs: ['rest', 'database', 'auth-core', 'loader', 'jobs', 'sockets', 'workers', 'users', 'metrics'],
  entities: () => import('./entities.ts'),
  tags: { 'notification-channels': 'Channels that forward notifications' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
