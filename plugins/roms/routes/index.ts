import type { FeatureRoutes } from '../../../core/feature.ts'
import { compileQuery } from '../../../core/web/validation.ts'
import { ListRomsQuery } from '../filters/list-query.ts'
import downloadRoutes from './downloads.ts'
import romRoutes from './roms.ts'

const routes: FeatureRoutes = async (app) => {
  await app.register(romRoutes)
  await app.register(downloadRoutes)
  // Nobody waits for the first list of a worker.
  app.addHook('onListen', () => {
    compileQuery(ListRomsQuery)
    app.roms.prepareLists(app.db).catch((err: unknown) => { app.log.debug({ err }, 'lists could not be prepared') })
  })
}

export default routes
