import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import type { Metrics, MetricValue } from './metrics.ts'
import { countJobs } from './rows.ts'

const readPool = (process: string, { totalCount, idleCount, waitingCount }: pg.Pool): MetricValue[] => [
  ['used', totalCount - idleCount], ['idle', idleCount], ['waited_for', waitingCount]
].map(([state, value]) => ({ labels: { process, state: String(state) }, value: Number(value) }))

/** Measures the server's database connections, sockets and jobs. */
export function measureResources (app: FastifyInstance, process: string, metrics: Metrics): void {
  metrics.gauge({
    name: 'svc_database_connections',
    help: 'Connections to the database: used, idle, and requests that wait for one',
    labelNames: ['process', 'state']
  }, () => readPool(process, app.pg))
  metrics.gauge({
    name: 'svc_sockets',
    help: 'Connected sockets, by endpoint and namespace',
    labelNames: ['endpoint', 'namespace']
  }, () => app.sockets.listEndpoints().flatMap((endpoint) => [...endpoint._nsps].map(([namespace, { sockets }]) =>
    ({ labels: { endpoint: endpoint.path(), namespace }, value: sockets.size }))))
  metrics.commonGauge({
    name: 'svc_jobs', help: 'Jobs that the queue still stores, by state', labelNames: ['queue', 'state']
  }, async () =>
    (await countJobs(app.db)).map(({ queue, state, count }) => ({ labels: { queue, state }, value: count })))
}
