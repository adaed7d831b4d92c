import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'streaming',
  needs: [
    'upkeep', 'database', 'auth-core', 'sockets', 'jobs', 'library', 'resources', 'roms', 'assets', 'activity',
    'notifications', 'play-sessions'
  ],
  config: () => import('./config.ts'),
  entities: () => import('./entities.ts'),
  tags: { streaming: 'Games that run on other machines and are watched in the browser' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes/index.ts')
})
