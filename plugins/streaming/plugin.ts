import type { FeaturePlugin } from '../../core/feature.ts'
import { selectOver } from './rows.ts'
import { createStreaming } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { streaming: ReturnType<typeof createStreaming> }
}

const REAP = 'streaming_reap'
const LOOK_MS = 60_000
const REAP_SECONDS = 300

const plugin: FeaturePlugin = async (app, { config, role }) => {
  app.decorate('streaming', createStreaming(app, config))
  app.jobs.define(REAP, {
    concurrency: 1,
    timeoutSeconds: REAP_SECONDS,
    async run () {
      await app.streaming.endLapsed()
      return null
    }
  })
  app.upkeep.repeat(LOOK_MS, async () => {
    if ((await selectOver(app.workers.session)).length > 0) await app.jobs.send(REAP, {}, { group: REAP })
  }, 'lapsed sessions of streaming could not be ended')
  // Former releases looked by a schedule, which would keep the scan worker from its rest.
  if (role === 'worker') app.addHook('onReady', () => app.jobs.schedule(REAP, '', null, {}))
}

export default plugin
