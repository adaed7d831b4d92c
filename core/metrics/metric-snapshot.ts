import type { MetricObjectWithValues, MetricValue } from 'prom-client'

/** A metric with its values, as prom-client writes it to be added up with those of other processes. */
export interface Measured {
  name: string
  help: string
  type: string
  aggregator: string
  values: { value: number, labels: Readonly<Partial<Record<string, string | number>>>, metricName?: string }[]
}

/** What is to be known of each process of a server. */
export interface ProcessMeasured {
  name: string
  /** Whether it answered just now. */
  is_up: boolean
  measured: Measured[]
}

/** What all processes of a server measured, and the totals of those that ended. */
export interface ServerMeasured { processes: ProcessMeasured[], former: Measured[] }

/** As it travels between processes, whose channels carry no number that is none. */
export const toMeasured = (all: readonly MetricObjectWithValues<MetricValue<string>>[]): Measured[] =>
  all.map(({ name, help, type, aggregator, values }) =>
    ({ name, help, type: String(type), aggregator, values: values.filter(({ value }) => Number.isFinite(value)) }))

/**
 * What only ever grows, for the whole server: it must not fall when a process ends, or does not answer. What has the
 * name of a process begins anew with it.
 */
export const listTotals = (all: readonly Measured[]): Measured[] => all.flatMap((metric) => {
  if (metric.type !== 'counter' && metric.type !== 'histogram') return []
  return [{ ...metric, values: metric.values.filter(({ labels }) => labels.process === undefined) }]
})
