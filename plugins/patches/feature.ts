import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'patches',
  needs: ['database', 'workers', 'auth-core', 'permissions', 'library', 'resources', 'roms'],
  config: () => import('./config.ts'),
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
