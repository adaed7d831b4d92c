import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'hashing',
  entities: () => import('./entities.ts')
})
