import type { FeaturePlugin } from '../../core/feature.ts'
import { createCircuits } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { circuits: ReturnType<typeof createCircuits> }
}

const STATES = ['closed', 'open', 'half_open'] as const

const plugin: FeaturePlugin = async (app) => {
  const circuits = createCircuits(app)
  app.decorate('circuits', circuits)
  app.registry.onReload(({ kind, key }) => { if (kind === 'provider') circuits.reset(key) })
  app.metrics.gauge({
    name: 'svc_provider_circuit',
    help: 'State of the circuit of a provider: 1 for the current state',
    labelNames: ['provider', 'state']
  }, () => [...circuits.list()].flatMap(([provider, breaker]) => {
    const current = breaker.view()?.state
    if (current === undefined) return []
    return STATES.map((state) => ({ labels: { provider, state }, value: Number(state === current) }))
  }))
}

export default plugin
