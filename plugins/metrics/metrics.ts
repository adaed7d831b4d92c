import type { FastifyBaseLogger } from 'fastify'
import type { Gauge, Registry } from 'prom-client'
import type { ProcessRole } from '../../core/feature.ts'
import { type MetricSnapshot, type ServerSnapshot, toMeasured } from '../../core/metrics/metric-snapshot.ts'
import { measureProcess } from '../../core/metrics/process.ts'
import { NEVER, limitTime } from '../../core/concurrency/limit-time.ts'

type Labels = Record<string, string>
/** One value of a metric. */
export interface MetricValue { labels: Labels, value: number }

/** A metric. All its labels together must have few combinations of values. */
export interface Definition { name: string, help: string, labelNames?: readonly string[] }

export type ReadMetric = () => readonly MetricValue[] | Promise<readonly MetricValue[]>

/** The metrics of features. Their methods cost nothing while metrics are off. */
export interface Metrics {
  isOn: boolean
  /** Defines a counter of events. @returns a function that adds to the counter */
  counter (definition: Definition): (labels: Labels, amount?: number) => void
  /** Defines a histogram of durations. @returns a function that records a duration in seconds */
  timer (definition: Definition): (labels: Labels, seconds: number) => void
  /** Defines a gauge whose value each process reads for itself when metrics are requested. */
  gauge (definition: Definition, read: ReadMetric): void
  /** Defines a gauge that has the same value in every process. Only the process that answers the request reads it. */
  commonGauge (definition: Definition, read: ReadMetric): void
  /** Returns the metrics of this process. */
  readOwn (): Promise<MetricSnapshot[]>
  /** Returns the metrics of all processes, in the format of Prometheus. */
  render (): Promise<string>
}

/** The buckets cover requests, which take milliseconds, and calls of providers, which take seconds. */
const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
/** A disk or database that does not answer loses only its own metrics. */
const READ_MS = 2_000

export const NO_METRICS: Metrics = {
  isOn: false,
  counter: () => () => {},
  timer: () => () => {},
  gauge: () => {},
  commonGauge: () => {},
  readOwn: async () => [],
  render: async () => ''
}

/** Reports as gauges which processes answered. */
function toUp ({ processes }: ServerSnapshot): MetricSnapshot {
  return {
    name: 'svc_process_up',
    help: '1 if a process of the server answered, else 0',
    type: 'gauge',
    aggregator: 'sum',
    values: processes.map(({ name, is_up: isUp }) => ({ labels: { process: name }, value: Number(isUp) }))
  }
}

export async function createMetrics (role: ProcessRole, log: FastifyBaseLogger): Promise<Metrics> {
  const { AggregatorRegistry, Counter, Gauge, Histogram, Registry } = await import('prom-client')
  const [own, common] = [new Registry(), new Registry()]
  const readProcess = await measureProcess(role.name)
  let rendering: Promise<string> | null = null

  async function fill (gauge: Gauge, name: string, read: ReadMetric): Promise<void> {
    gauge.reset()
    try {
      const readings = await limitTime('No answer within', READ_MS, NEVER, async () => await read())
      for (const { labels, value } of readings) gauge.set(labels, value)
    } catch (err) {
      log.warn({ err, metric: name }, 'a metric could not be read')
    }
  }

  function addGauge (registry: Registry, { name, help, labelNames = [] }: Definition, read: ReadMetric): void {
    const gauge: Gauge = new Gauge({
      name, help, labelNames, registers: [registry], collect: () => fill(gauge, name, read)
    })
  }

  async function readOwn (): Promise<MetricSnapshot[]> {
    return [...toMeasured(await own.getMetricsAsJSON()), ...await readProcess()]
  }

  async function readAll (): Promise<ServerSnapshot> {
    try {
      if (role.readAllMeasured !== undefined) return await role.readAllMeasured()
    } catch (err) {
      log.warn({ err }, 'the metrics of the other processes could not be read')
    }
    return { processes: [{ name: role.name, is_up: true, measured: await readOwn() }], former: [] }
  }

  async function render (): Promise<string> {
    const [server, shared] = await Promise.all([readAll(), common.getMetricsAsJSON()])
    return await AggregatorRegistry.aggregate([
      ...server.processes.map(({ measured }) => measured), server.former, toMeasured(shared), [toUp(server)]
    ]).metrics()
  }

  return {
    isOn: true,
    counter ({ name, help, labelNames = [] }) {
      const counter = new Counter({ name, help, labelNames, registers: [own] })
      return (labels, amount = 1) => { counter.inc(labels, amount) }
    },
    timer ({ name, help, labelNames = [] }) {
      const histogram = new Histogram({ name, help, labelNames, buckets: BUCKETS_SECONDS, registers: [own] })
      return (labels, seconds) => { histogram.observe(labels, seconds) }
    },
    gauge: (definition, read) => { addGauge(own, definition, read) },
    commonGauge: (definition, read) => { addGauge(common, definition, read) },
    readOwn,
    // Concurrent callers share one result.
    async render () {
      rendering ??= render().finally(() => { rendering = null })
      return await rendering
    }
  }
}
