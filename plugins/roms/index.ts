import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import downloadRoutes from './routes/downloads.ts'
import { createDownloads } from './downloads/downloads.ts'
import type { UserFiles } from './user-files.ts'
import routes from './routes/roms.ts'
import { createRoms } from './service.ts'
import { hasVisibleRom, selectPlatformSizes } from './visible-rows.ts'

declare module 'fastify' {
  interface FastifyInstance {
    roms: ReturnType<typeof createRoms>
    downloads: ReturnType<typeof createDownloads>
  }
}

/** @param userFiles the files that users store for ROMs */
export default (userFiles: UserFiles) => fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('roms', createRoms(app, config, userFiles))
  app.decorate('downloads', createDownloads(app))
  app.resources.guardRoms(hasVisibleRom)
  app.platforms.measureBy(selectPlatformSizes)
  await app.register(routes)
  await app.register(downloadRoutes)
}, { name: 'roms', dependencies: ['database', 'auth-core', 'permissions', 'loader', 'library', 'platforms', 'resources'] })
