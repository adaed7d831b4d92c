import { Type } from '@sinclair/typebox'
import { notFound } from '../../core/errors.ts'
import type { FeatureRoutes } from '../../core/feature.ts'
import { ErrorSchema } from '../../core/typebox.ts'
import { createAddressList } from './access.ts'

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const routes: FeatureRoutes = async (app, { config }) => {
  app.get('/metrics', {
    schema: {
      operationId: 'getMetrics',
      tags: ['metrics'],
      summary: 'Get the metrics of all processes of this server, in the text format of Prometheus',
      description:
        'Answers 404 unless `SVC_METRICS=true`. Addresses in `SVC_METRICS_ALLOW` need no credential. Counters ' +
        'and histograms are sums over all processes; `process` names the process of a metric that has no meaningful sum.',
      response: {
        200: { description: 'Metrics, each with its help text', content: { 'text/plain': { schema: Type.String() } } },
        404: ErrorSchema
      }
    },
    config: { scopes: ['logs.read'], skipsAuthentication: createAddressList(config) }
  }, async (_request, reply) => {
    if (!app.metrics.isOn) throw notFound('Metrics are disabled; set SVC_METRICS=true and restart the server')
    return reply.type(CONTENT_TYPE).send(await app.metrics.render())
  })
}

export default routes
