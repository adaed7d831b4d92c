import type { FastifyInstance } from 'fastify'
import type { ScanStats } from '../schemas.ts'

/** True if a total counts finished work: `total_*` counts planned work. */
const isDone = (name: string) => !name.startsWith('total_')

/** Measures the speed of scans and the progress of the running one. */
export function createScanMeasures (app: FastifyInstance) {
  const running = new Set<ScanStats>()
  const count = app.metrics.counter({
    name: 'svc_scan_done_total', help: 'Totals of all scans, by their names', labelNames: ['what']
  })
  app.metrics.gauge({ name: 'svc_scans_running', help: 'Running scans' }, () => [{ labels: {}, value: running.size }])
  app.metrics.gauge({
    name: 'svc_scan_progress', help: 'Totals of the running scan, as clients see them', labelNames: ['what']
  }, () => [...running].flatMap((stats) => Object.entries(stats).map(([what, value]) => ({ labels: { what }, value }))))

  return {
    /** Starts the measuring of a scan. @returns a function that ends it */
    begin (stats: ScanStats): () => void {
      running.add(stats)
      return () => { running.delete(stats) }
    },
    add (amounts: Partial<ScanStats>): void {
      for (const [what, amount] of Object.entries(amounts)) if (isDone(what) && amount > 0) count({ what }, amount)
    }
  }
}
