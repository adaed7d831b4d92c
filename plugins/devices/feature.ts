import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'devices',
  needs: ['database', 'auth-core', 'sockets', 'audit'],
  config: () => import('./config.ts'),
  entities: () => import('./entities.ts'),
  tags: { devices: 'Handhelds and desktops of a user' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
