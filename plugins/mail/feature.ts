import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'mail',
  config: () => import('./config.ts'),
  plugin: () => import('./plugin.ts')
})
