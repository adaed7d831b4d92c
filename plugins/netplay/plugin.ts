import type { FeaturePlugin } from '../../core/feature.ts'
import { openNetplayEndpoint } from './events.ts'
import { createNetplay } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { netplay: ReturnType<typeof createNetplay> }
}

/** The schedule by which former releases removed lost players. */
const FORMER_SCHEDULE = 'netplay_cleanup'
const LOST = 'players without a connection could not be determined'
/** Interval at which players are removed whose worker was the last one with players. */
const CLEAN_UP_MS = 30 * 60_000
/** Interval at which players of dead workers are removed. */
const LOOK_MS = 10_000

const plugin: FeaturePlugin = async (app, { role }) => {
  app.decorate('netplay', createNetplay(app))
  app.upkeep.repeat(CLEAN_UP_MS, () => app.netplay.dropLost(), LOST)
  if (role === 'worker') {
    app.addHook('onReady', () => app.jobs.schedule(FORMER_SCHEDULE, '', null, {}))
    return
  }
  const endpoint = openNetplayEndpoint(app)
  app.addHook('onReady', endpoint.listen)
  const timer = setInterval(() => {
    if (!endpoint.hasPlayers()) return
    Promise.all([app.netplay.dropLost(), endpoint.dropClosed()])
      .catch((err: unknown) => { app.log.warn({ err }, LOST) })
  }, LOOK_MS)
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await endpoint.flush()
  })
}

export default plugin
