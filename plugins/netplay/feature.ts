import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'netplay',
  needs: ['upkeep', 'database', 'auth-core', 'sockets', 'jobs', 'workers', 'roms'],
  entities: () => import('./entities.ts'),
  tags: { netplay: 'Rooms in which people play one game together, by the socket endpoint `/netplay/socket.io`' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
