import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'installs',
  needs: ['upkeep', 'database', 'auth-core', 'sockets', 'devices', 'roms', 'notifications'],
  entities: () => import('./entities.ts'),
  tags: { installs: 'Requests to a device to install a ROM' },
  events: async () => (await import('./events.ts')).installEvents,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
