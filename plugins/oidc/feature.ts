import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'oidc',
  // The log shows the warning about missing settings.
  needs: ['rest', 'database', 'auth-core', 'audit', 'auth', 'logs', 'users'],
  config: () => import('./config.ts'),
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
