import type { FeaturePlugin } from '../../core/feature.ts'
import { createDownloads } from './downloads/downloads.ts'
import type { UserFiles } from './extensions.ts'
import { createRoms } from './service.ts'
import { hasVisibleRom, selectPlatformSizes } from './visible-rows.ts'

declare module 'fastify' {
  interface FastifyInstance {
    roms: ReturnType<typeof createRoms>
    downloads: ReturnType<typeof createDownloads>
  }
}

/** @param userFiles the files that users store for ROMs */
export default (userFiles: UserFiles): FeaturePlugin => async (app, { config }) => {
  app.decorate('roms', createRoms(app, config, userFiles))
  app.decorate('downloads', createDownloads(app))
  app.resources.guardRoms(hasVisibleRom)
  app.platforms.measureBy(selectPlatformSizes)
}
