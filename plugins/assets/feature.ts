import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'assets',
  needs: ['rest', 'database', 'auth-core', 'tasks', 'audit', 'users', 'devices', 'permissions', 'resources', 'roms', 'sync'],
  config: () => import('./config.ts'),
  entities: () => import('./entities.ts'),
  tags: {
    saves: 'Saves with their versions, by game, slot and device',
    states: 'Save states with their versions',
    screenshots: 'Screenshots that belong to saves, states and players'
  },
  commands: async () => (await import('./commands.ts')).addAssetCommands,
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes/index.ts'),
  check: async (config, db) => { await (await import('./stored-files.ts')).requireOwnUploads(config, db) }
})
