import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import createPlaylistRoutes from './routes/playlists.ts'
import createTrackRoutes from './routes/tracks.ts'
import { createMusic } from './service.ts'

export default fp<FeatureOptions>(async (app) => {
  const music = createMusic(app)
  await app.register(createTrackRoutes(music))
  await app.register(createPlaylistRoutes(music))
}, { name: 'music', dependencies: ['database', 'auth-core', 'audit', 'resources', 'roms', 'users'] })
