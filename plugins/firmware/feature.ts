import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'firmware',
  needs: ['database', 'workers', 'auth-core', 'permissions', 'library', 'platforms', 'resources', 'tasks'],
  entities: () => import('./entities.ts'),
  tags: { firmware: 'BIOS files' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
