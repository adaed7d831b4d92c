import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'imports',
  needs: [
    'database', 'auth-core', 'tasks', 'audit', 'users', 'permissions', 'platforms', 'library', 'roms', 'scans', 'assets', 'devices', 'collections'
  ],
  config: () => import('./config.ts'),
  entities: () => import('./entities.ts'),
  tags: { imports: 'Imports of libraries from other programs, with their reports' },
  commands: async () => (await import('./commands.ts')).addImportCommands,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
