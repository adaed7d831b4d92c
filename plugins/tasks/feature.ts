import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'tasks',
  needs: ['rest', 'database', 'auth-core', 'jobs', 'workers', 'metrics'],
  config: () => import('./config.ts'),
  entities: () => import('./entities.ts'),
  tags: { tasks: 'Scans and all other work in the background' },
  commands: async () => (await import('./commands.ts')).addTaskCommands,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
