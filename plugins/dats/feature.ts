import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'dats',
  needs: ['upkeep', 'database', 'auth-core', 'workers', 'jobs', 'audit', 'permissions', 'library', 'platforms', 'roms', 'tasks', 'scans', 'editing'],
  config: () => import('./config.ts'),
  entities: () => import('./entities.ts'),
  tags: { dats: 'DAT files: which dumps are good, which games are missing, and names by DAT' },
  commands: async () => (await import('./commands.ts')).addDatCommands,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
