import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'users',
  needs: [
    'database', 'auth-core', 'jobs', 'loader', 'circuits', 'tasks', 'permissions', 'audit', 'devices', 'resources',
    'auth'
  ],
  entities: () => import('./entities.ts'),
  tags: { users: 'Accounts, invites, profiles and avatars' },
  commands: async () => (await import('./commands.ts')).addUserCommands,
  fieldNames: async () => (await import('./schemas.ts')).USER_FIELD_NAMES,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes/index.ts')
})
