import { defineFeature } from '../../core/feature.ts'
import { addExportCommands } from './commands.ts'

export default defineFeature({
  name: 'exports',
  needs: ['database', 'auth-core', 'jobs', 'workers', 'loader', 'library', 'platforms', 'scans'],
  tags: { exports: 'Lists of games for frontends' },
  commands: addExportCommands,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
