import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'dats',
  needs: ['database'],
  entities: () => import('./entities.ts')
})
