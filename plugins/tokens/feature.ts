import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'tokens',
  needs: ['upkeep', 'database', 'workers', 'auth-core', 'sockets', 'permissions', 'users', 'audit', 'devices'],
  entities: () => import('./entities.ts'),
  tags: {
    'client-tokens': 'Credentials of apps and scripts, with scopes, and pairing by a code',
    'device-authorization': 'Pairing of devices that can only show a code'
  },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes/index.ts')
})
