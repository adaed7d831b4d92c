import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'deletion',
  needs: ['database', 'auth-core', 'permissions', 'library', 'roms', 'sockets', 'trash'],
  events: async () => (await import('./events.ts')).deletionEvents,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
