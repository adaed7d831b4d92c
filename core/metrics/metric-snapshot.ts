import type { MetricObjectWithValues, MetricValue } from 'prom-client'

/** A metric with its values, in the form in which prom-client aggregates processes. */
export interface MetricSnapshot {
  name: string
  help: string
  type: string
  aggregator: string
  values: { value: number, labels: Readonly<Partial<Record<string, string | number>>>, metricName?: string }[]
}

/** The metrics of one process of a server. */
export interface ProcessMeasured {
  name: string
  /** True if the process answered the last query. */
  is_up: boolean
  measured: MetricSnapshot[]
}

/** The metrics of all processes of a server, and the totals of processes that ended. */
export interface ServerSnapshot { processes: ProcessMeasured[], former: MetricSnapshot[] }

/** Converts metrics for the channel between processes, which carries no NaN or Infinity. */
export const toMeasured = (all: readonly MetricObjectWithValues<MetricValue<string>>[]): MetricSnapshot[] =>
  all.map(({ name, help, type, aggregator, values }) =>
    ({ name, help, type: String(type), aggregator, values: values.filter(({ value }) => Number.isFinite(value)) }))

/**
 * Returns the totals (counters and histograms) for the whole server, because they must not fall when a process ends or
 * does not answer. Values with the label of a process are dropped, because they restart with it.
 */
export const listTotals = (all: readonly MetricSnapshot[]): MetricSnapshot[] => all.flatMap((metric) => {
  if (metric.type !== 'counter' && metric.type !== 'histogram') return []
  return [{ ...metric, values: metric.values.filter(({ labels }) => labels.process === undefined) }]
})
