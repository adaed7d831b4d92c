import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'web',
  // Its hook removes cookies that the sessions add.
  needs: ['auth-core', 'auth'],
  plugin: () => import('./plugin.ts')
})
