import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'circuits',
  needs: ['metrics'],
  plugin: () => import('./plugin.ts')
})
