import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'libraries',
  needs: ['database', 'auth-core', 'audit', 'library', 'platforms', 'roms', 'settings'],
  tags: { libraries: 'Root folders that contain the platform folders' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
