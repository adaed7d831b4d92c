import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { type ScanProblem, type ScanStats, createStats } from './schemas.ts'

/** Stats go out at most this often. */
const STATS_MS = 150
/** The job row, which clients poll, is written at most this often. */
const REPORT_MS = 1_000
/** Events per ROM: a burst at once, then so many per second; what is over is in the stats alone. */
const ROM_BURST = 200
const ROM_PER_SECOND = 40
/** How many problems are kept with the task; all of them are logged. */
const PROBLEMS_MAX = 200

/** Tells everybody how far the scan is, without drowning them. */
export interface Progress {
  stats: ScanStats
  problems: ScanProblem[]
  /** Adds to the totals. */
  add (amounts: Partial<ScanStats>): void
  problem (problem: ScanProblem): void
  /** How many of `wanted` events about single ROMs may go out now. */
  grant (wanted: number): number
  /** Sends what is still unsent. */
  flush (): Promise<void>
  close (): void
}

export function createProgress (
  app: FastifyInstance, log: Logger, report: (meta: Record<string, unknown>) => Promise<void>
): Progress {
  const stats = createStats()
  const problems: ScanProblem[] = []
  let problemCount = 0
  let isStale = false
  let reportedAt = 0
  let tokens = ROM_BURST
  let refilledAt = Date.now()

  const meta = () => ({ scan_stats: { ...stats }, problems, problem_count: problemCount })

  async function send (): Promise<void> {
    if (!isStale) return
    isStale = false
    app.sockets.publish(null, 'scan:update_stats', { ...stats })
    if (Date.now() - reportedAt < REPORT_MS) return
    reportedAt = Date.now()
    await report(meta())
  }

  const timer = setInterval(() => {
    send().catch((err: unknown) => { log.warn({ err }, 'progress could not be reported') })
  }, STATS_MS)

  return {
    stats,
    problems,
    add (amounts) {
      for (const [name, amount] of Object.entries(amounts)) stats[name as keyof ScanStats] += amount
      isStale = true
    },
    problem (problem) {
      log.warn(problem, 'left out of the scan')
      problemCount++
      if (problems.length < PROBLEMS_MAX) problems.push(problem)
    },
    grant (wanted) {
      const now = Date.now()
      tokens = Math.min(ROM_BURST, tokens + (now - refilledAt) / 1_000 * ROM_PER_SECOND)
      refilledAt = now
      const granted = Math.min(wanted, Math.floor(tokens))
      tokens -= granted
      return granted
    },
    async flush () {
      isStale = true
      reportedAt = 0
      await send()
    },
    close () { clearInterval(timer) }
  }
}
