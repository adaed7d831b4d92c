import type { FeaturePlugin } from '../../core/feature.ts'
import { openNetplayEndpoint } from './events.ts'
import { createNetplay } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { netplay: ReturnType<typeof createNetplay> }
}

const CLEAN_UP = 'netplay_cleanup'
const CLEAN_UP_CRON = '*/30 * * * *'
const CLEAN_UP_SECONDS = 60
/** Interval at which players of dead workers are removed. */
const LOOK_MS = 10_000

const plugin: FeaturePlugin = async (app, { role }) => {
  app.decorate('netplay', createNetplay(app))
  app.jobs.define(CLEAN_UP, {
    concurrency: 1,
    timeoutSeconds: CLEAN_UP_SECONDS,
    async run () {
      await app.netplay.dropLost()
      return null
    }
  })

  if (role === 'worker') {
    app.addHook('onReady', () => app.jobs.schedule(CLEAN_UP, '', CLEAN_UP_CRON, {}))
    return
  }
  const endpoint = openNetplayEndpoint(app)
  app.addHook('onReady', endpoint.listen)
  const timer = setInterval(() => {
    if (!endpoint.hasPlayers()) return
    app.netplay.dropLost().catch((err: unknown) => { app.log.warn({ err }, 'players without a connection could not be determined') })
  }, LOOK_MS)
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await endpoint.flush()
  })
}

export default plugin
