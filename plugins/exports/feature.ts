import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'exports',
  needs: ['database', 'auth-core', 'jobs', 'workers', 'loader', 'library', 'platforms', 'scans'],
  tags: { exports: 'Lists of games for frontends' },
  commands: async () => (await import('./commands.ts')).addExportCommands,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
