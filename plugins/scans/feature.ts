import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'scans',
  needs: ['workers', 'tasks', 'permissions', 'library', 'platforms', 'roms', 'sockets', 'loader', 'circuits'],
  entities: () => import('./entities.ts'),
  commands: async () => (await import('./commands.ts')).addScanCommands,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
