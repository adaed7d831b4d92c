import type { FastifyInstance } from 'fastify'
import type { Metrics } from './metrics.ts'

/** The label of requests that match no route. Their addresses are not labels, because anybody can invent addresses. */
const NO_ROUTE = 'none'
const ABORTED = 'aborted'

const classOf = (status: number) => `${Math.floor(status / 100)}xx`

/** Measures the duration of requests by their route template. */
export function measureRequests (app: FastifyInstance, metrics: Metrics): void {
  let running = 0
  const note = metrics.timer({
    name: 'svc_http_request_duration_seconds',
    help: 'Time from a request to the end of its response; `route` is the template, `status` the class',
    labelNames: ['method', 'route', 'status']
  })
  metrics.gauge({ name: 'svc_http_requests_under_way', help: 'Requests without a response yet' },
    () => [{ labels: {}, value: running }])

  app.addHook('onRequest', (request, { raw }, done) => {
    const { method, routeOptions: { url: route = NO_ROUTE } } = request
    const startedAt = performance.now()
    let isUnderWay = true
    running++
    const end = (status: string) => {
      if (!isUnderWay) return
      isUnderWay = false
      running--
      note({ method, route, status }, (performance.now() - startedAt) / 1_000)
    }
    raw.once('finish', () => { end(classOf(raw.statusCode)) })
    raw.once('close', () => { end(ABORTED) })
    done()
  })
}
