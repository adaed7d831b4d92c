import type { FeaturePlugin } from '../../core/feature.ts'
import { createCalls } from './host/calls.ts'
import { WAKE_EVENT, countDeliveries, isAnyDue } from './delivery/delivery-rows.ts'
import { DeliveryEngine, type DisabledListener } from './delivery/delivery-engine.ts'
import { createHost } from './host/channel-host.ts'
import { createQueue } from './delivery/queue.ts'
import { type Channels, createChannels } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    channels: Channels & ReturnType<typeof createQueue> & {
      /** Adds a listener for channels that were disabled because their deliveries kept failing. */
      onDisabled (listener: DisabledListener): void
    }
  }
}

/** The scan worker rests only if no delivery is due so soon. */
const SOON_MS = 60_000

const plugin: FeaturePlugin = async (app, { config, role }) => {
  const listeners: DisabledListener[] = []
  const host = createHost(app, config)
  const calls = createCalls(app, host)
  app.decorate('channels', {
    ...createChannels(app, calls),
    ...createQueue(app),
    onDisabled (listener) { listeners.push(listener) }
  })
  app.metrics.commonGauge({ name: 'svc_deliveries_waiting', help: 'Waiting and running deliveries', labelNames: ['type'] },
    async () => (await countDeliveries(app.db)).map(({ type, count }) => ({ labels: { type }, value: count })))
  app.rest.addSource({ name: 'deliveries', channel: WAKE_EVENT, hasWork: () => isAnyDue(app.db, SOON_MS) })

  if (role !== 'worker') return
  const engine = new DeliveryEngine(app, host, listeners)
  app.addHook('onReady', () => engine.open())
  // At this moment the connections that store the last results are still open.
  app.addHook('preClose', () => engine.close())
}

export default plugin
