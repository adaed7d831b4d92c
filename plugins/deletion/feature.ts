import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'deletion',
  needs: ['database', 'auth-core', 'workers', 'permissions', 'library', 'roms', 'sockets', 'scans', 'trash'],
  events: async () => (await import('./events.ts')).deletionEvents,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
