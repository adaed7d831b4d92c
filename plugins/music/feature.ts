import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'music',
  needs: ['database', 'auth-core', 'audit', 'resources', 'roms', 'users'],
  entities: () => import('./entities.ts'),
  tags: { music: 'The soundtracks of all games, with favourites and playlists' },
  plugin: () => import('./plugin.ts'),
  routes: () => import('./routes/index.ts')
})
