import { type Measured, toMeasured } from './metric-snapshot.ts'

/** Each look wakes the process up. */
const LOOK_MS = 20

/** Reads what Node tells of this process, under its name: memory, processor time, garbage, the event loop. */
export async function measureProcess (name: string): Promise<() => Promise<Measured[]>> {
  const { Registry, collectDefaultMetrics } = await import('prom-client')
  const registry = new Registry()
  registry.setDefaultLabels({ process: name })
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOK_MS })
  // Nobody else has the same labels.
  return async () => toMeasured(await registry.getMetricsAsJSON()).map((metric) => ({ ...metric, aggregator: 'sum' }))
}
