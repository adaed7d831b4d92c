import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'auth',
  needs: ['upkeep', 'auth-core', 'workers', 'jobs', 'audit', 'mail', 'devices', 'permissions'],
  entities: () => import('./entities.ts'),
  tags: {
    auth: 'Sign-in by password or by an OpenID provider, and password resets',
    sessions: 'Signed-in browsers'
  },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes/index.ts')
})
