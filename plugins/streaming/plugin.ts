import type { FeaturePlugin } from '../../core/feature.ts'
import { createStreaming } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { streaming: ReturnType<typeof createStreaming> }
}

const REAP = 'streaming_reap'
const EVERY_MINUTE = '* * * * *'
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
  if (role === 'worker') app.addHook('onReady', () => app.jobs.schedule(REAP, '', EVERY_MINUTE, {}))
}

export default plugin
