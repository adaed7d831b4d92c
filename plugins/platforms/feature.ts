import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'platforms',
  needs: ['database', 'auth-core', 'loader', 'library'],
  config: () => import('./config.ts'),
  entities: () => import('./entities.ts'),
  tags: { platforms: 'Systems, each with a folder of ROMs' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
