import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import createAdminRoutes from './routes/admin.ts'
import playerRoutes from './routes/player.ts'
import { createStreaming } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { streaming: ReturnType<typeof createStreaming> }
}

const REAP = 'streaming_reap'
const EVERY_MINUTE = '* * * * *'
const REAP_SECONDS = 300

export default fp<FeatureOptions>(async (app, { config, role }) => {
  app.decorate('streaming', createStreaming(app, config))
  await app.register(playerRoutes)
  await app.register(createAdminRoutes(() => config.streaming.enabled))
  app.jobs.define(REAP, {
    concurrency: 1,
    timeoutSeconds: REAP_SECONDS,
    async run () {
      await app.streaming.reap()
      return null
    }
  })
  if (role === 'worker') app.addHook('onReady', () => app.jobs.schedule(REAP, '', EVERY_MINUTE, {}))
}, {
  name: 'streaming',
  dependencies: [
    'database', 'auth-core', 'sockets', 'jobs', 'library', 'resources', 'roms', 'assets', 'activity', 'notifications',
    'play-sessions'
  ]
})
