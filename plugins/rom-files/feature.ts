import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'rom-files',
  needs: ['rest', 'database', 'workers', 'auth-core', 'library', 'tasks', 'resources', 'roms', 'editing', 'scans', 'trash'],
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
