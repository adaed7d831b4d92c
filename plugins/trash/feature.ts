import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'trash',
  needs: ['database', 'auth-core', 'workers', 'audit', 'library', 'roms', 'tasks', 'scans', 'editing', 'assets'],
  config: () => import('./config.ts'),
  entities: () => import('./entities.ts'),
  commands: async () => (await import('./commands.ts')).addTrashCommands,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
