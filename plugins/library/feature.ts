import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'library',
  needs: ['database', 'loader'],
  config: () => import('./config.ts'),
  entities: () => import('./entities.ts'),
  plugin: () => import('./plugin.ts')
})
