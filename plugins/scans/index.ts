import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { listenForScans } from './events.ts'
import routes from './routes.ts'
import { createScans } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { scans: ReturnType<typeof createScans> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  const scans = createScans(app, config)
  app.decorate('scans', scans)
  listenForScans(app)
  await app.register(routes)

  app.tasks.define({
    name: 'scan_library',
    title: 'Scheduled rescan',
    description: 'Quick scan of all platforms with every enabled source',
    type: 'scan',
    group: 'scheduled',
    enabled: config.tasks.scheduled_rescan,
    manual_run: false,
    cron_string: config.tasks.scheduled_rescan_cron,
    destructive: false,
    isSingle: true,
    arguments: Type.Object({}, { additionalProperties: false }),
    async run () {
      await scans.request({
        type: 'quick', platforms: [], platform_fs_slugs: [], roms_ids: [], launchbox_remote_enabled: true
      }, null)
    }
  })
}, { name: 'scans', dependencies: ['tasks', 'platforms', 'sockets', 'loader'] })
