import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'watcher',
  needs: ['rest', 'database', 'workers', 'library', 'tasks', 'scans'],
  plugin: () => import('./plugin.ts')
})
