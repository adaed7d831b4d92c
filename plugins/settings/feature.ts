import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'settings',
  needs: ['database', 'loader', 'audit', 'platforms'],
  config: () => import('./config.ts'),
  tags: { config: 'Settings of the server' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
