import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'watcher',
  needs: ['database', 'workers', 'library', 'tasks', 'scans'],
  plugin: () => import('./plugin.ts')
})
