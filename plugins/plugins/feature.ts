import { defineFeature } from '../../core/feature.ts'
import { addPluginCommands } from './commands.ts'

export default defineFeature({
  name: 'plugins',
  needs: ['workers', 'jobs', 'loader', 'circuits', 'tasks', 'auth-core', 'audit'],
  tags: { plugins: 'Metadata providers, channel types and exporters' },
  commands: addPluginCommands,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
