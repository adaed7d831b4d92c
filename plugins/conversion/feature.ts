import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'conversion',
  needs: ['database', 'jobs', 'tasks', 'permissions', 'library', 'scans', 'editing'],
  entities: () => import('./entities.ts'),
  plugin: () => import('./plugin.ts')
})
