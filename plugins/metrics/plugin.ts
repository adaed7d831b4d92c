import type { FeaturePlugin } from '../../core/feature.ts'
import { type Metrics, NO_METRICS, createMetrics } from './metrics.ts'
import { measurePlugins } from './plugin-calls.ts'
import { measureRequests } from './requests.ts'
import { measureResources } from './measure-resources.ts'

declare module 'fastify' {
  interface FastifyInstance { metrics: Metrics }
}

const plugin: FeaturePlugin = async (app, { config, role, processRole }) => {
  const metrics = config.metrics.enabled ? await createMetrics(processRole, app.log) : NO_METRICS
  app.decorate('metrics', metrics)
  if (metrics.isOn) {
    measureResources(app, processRole.name, metrics)
    if (role === 'web') measureRequests(app, metrics)
    else measurePlugins(app, metrics)
    // Nobody can read them: only a web worker answers `/metrics`, and it reaches other processes through the
    // supervisor.
    if (role === 'worker' && processRole.readAllMeasured === undefined) {
      app.log.warn('the metrics of this scan worker cannot be read, because it runs separately; with svc start, /metrics contains them')
    }
  }
}

export default plugin
