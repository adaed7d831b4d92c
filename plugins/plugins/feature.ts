import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'plugins',
  needs: ['workers', 'jobs', 'loader', 'circuits', 'tasks', 'auth-core', 'audit'],
  tags: { plugins: 'Metadata providers, channel types and exporters' },
  commands: async () => (await import('./commands.ts')).addPluginCommands,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes.ts')
})
