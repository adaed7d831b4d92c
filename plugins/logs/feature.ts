import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'logs',
  needs: ['database', 'auth-core', 'sockets'],
  config: () => import('./config.ts'),
  entities: () => import('./entities.ts'),
  tags: { logs: 'Log lines of all processes of the server' },
  events: async () => (await import('./events.ts')).logEvents,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
