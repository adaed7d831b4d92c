import { type MetricSnapshot, toMeasured } from './metric-snapshot.ts'

/** The interval of the event loop monitor; each check wakes the process up. */
const MONITOR_MS = 20

/**
 * Returns a function that reads Node's metrics of this process under its name: memory, processor time, garbage
 * collection, the event loop.
 */
export async function measureProcess (name: string): Promise<() => Promise<MetricSnapshot[]>> {
  const { Registry, collectDefaultMetrics } = await import('prom-client')
  const registry = new Registry()
  registry.setDefaultLabels({ process: name })
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: MONITOR_MS })
  // No other process has the same labels, so the sum is exact.
  return async () => toMeasured(await registry.getMetricsAsJSON()).map((metric) => ({ ...metric, aggregator: 'sum' }))
}
