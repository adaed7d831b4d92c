import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'collections',
  needs: ['upkeep', 'database', 'workers', 'auth-core', 'sockets', 'audit', 'permissions', 'library', 'resources', 'roms'],
  entities: () => import('./entities.ts'),
  tags: { collections: 'Lists of ROMs across platforms: manual, by a stored filter, and by common properties' },
  events: async () => (await import('./events.ts')).collectionEvents,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes/index.ts')
})
