import type { FeatureRoutes } from '../../../core/feature.ts'
import type { Music } from '../service.ts'
import createPlaylistRoutes from './playlists.ts'
import createTrackRoutes from './tracks.ts'

const routes: FeatureRoutes<Music> = async (app, _options, music) => {
  await app.register(createTrackRoutes(music))
  await app.register(createPlaylistRoutes(music))
}

export default routes
