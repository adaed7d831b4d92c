import { defineFeature } from '../../core/feature.ts'
import { addScanCommands } from './commands.ts'

export default defineFeature({
  name: 'scans',
  needs: ['workers', 'tasks', 'permissions', 'library', 'platforms', 'roms', 'sockets', 'loader', 'circuits'],
  entities: () => import('./entities.ts'),
  commands: addScanCommands,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
