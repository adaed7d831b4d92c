import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'settings',
  needs: ['database', 'loader', 'audit', 'platforms', 'workers'],
  entities: () => import('./entities.ts'),
  config: () => import('./config.ts'),
  tags: { config: 'Settings of the server' },
  prepare: async (upgrade) => await (await import('./prepare-settings.ts')).prepareSettings(upgrade),
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
