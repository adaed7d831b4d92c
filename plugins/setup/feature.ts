import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'setup',
  needs: ['database', 'auth-core', 'loader', 'permissions', 'library', 'users', 'platforms'],
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
