import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'webdav',
  needs: [
    'database', 'auth-core', 'tasks', 'users', 'devices', 'permissions', 'library', 'platforms', 'resources', 'roms',
    'assets', 'notifications'
  ],
  config: () => import('./config.ts'),
  entities: () => import('./entities.ts'),
  tags: { webdav: 'Files that RetroArch stores through its cloud sync, and their games' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes/index.ts')
})
