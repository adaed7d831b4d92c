import { defineFeature } from '../../core/feature.ts'
import { addTaskCommands } from './commands.ts'

export default defineFeature({
  name: 'tasks',
  needs: ['rest', 'database', 'auth-core', 'jobs', 'workers', 'metrics'],
  config: () => import('./config.ts'),
  entities: () => import('./entities.ts'),
  tags: { tasks: 'Scans and all other work in the background' },
  commands: addTaskCommands,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
