import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'permissions',
  needs: ['database', 'auth-core', 'sockets', 'audit'],
  entities: async () => ({ ...await import('./entities.ts'), ...await import('./group-entities.ts') }),
  tags: { permissions: 'Groups, grants, hidden platforms and ROMs, and age limits' },
  events: async () => (await import('./service.ts')).permissionEvents,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
