import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'metrics',
  needs: ['database', 'auth-core', 'sockets', 'jobs', 'loader'],
  tags: { metrics: 'Measurements of all processes of the server' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
