import { type MetricSnapshot, type ServerSnapshot, type ProcessMeasured, listTotals, toMeasured } from '../metrics/metric-snapshot.ts'
import { measureProcess } from '../metrics/process.ts'

/** The timeout of a process; afterwards its last metrics are used. */
export const ANSWER_MS = 2_000
const OWN_NAME = 'supervisor'

/** A slot whose process may be running. */
interface MetricsSource { name: string, readMeasured (ms: number): Promise<MetricSnapshot[] | null> }

/** Sums up the totals of ended processes. */
async function addUp (all: readonly MetricSnapshot[][]): Promise<MetricSnapshot[]> {
  const { AggregatorRegistry } = await import('prom-client')
  return toMeasured(await AggregatorRegistry.aggregate([...all]).getMetricsAsJSON())
}

/** Collects the metrics of all processes, for any process that requests them. */
export function createMeasures (listSources: () => readonly MetricsSource[]) {
  /** The last metrics of each slot. */
  const last = new Map<string, MetricSnapshot[]>()
  let former: Promise<MetricSnapshot[]> = Promise.resolve([])
  let ownMetrics: ReturnType<typeof measureProcess> | undefined

  async function read (source: MetricsSource): Promise<ProcessMeasured> {
    const { name } = source
    const measured = await source.readMeasured(ANSWER_MS)
    if (measured === null) return { name, is_up: false, measured: listTotals(last.get(name) ?? []) }
    last.set(name, measured)
    return { name, is_up: true, measured }
  }

  async function readOwn (): Promise<ProcessMeasured> {
    ownMetrics ??= measureProcess(OWN_NAME)
    return { name: OWN_NAME, is_up: true, measured: await (await ownMetrics)() }
  }

  return {
    async readAll (): Promise<ServerSnapshot> {
      const processes = await Promise.all([readOwn(), ...listSources().map(read)])
      return { processes, former: await former }
    },

    /** Keeps the totals of a process that ended. */
    keepTotals (name: string): void {
      const totals = listTotals(last.get(name) ?? [])
      last.delete(name)
      if (totals.length > 0) former = former.then((known) => addUp([known, totals]))
    }
  }
}
