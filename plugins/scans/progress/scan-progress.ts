import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { toStorable } from '../../../core/database/json.ts'
import { type Listeners, PER_SECOND } from './listeners.ts'
import { type ScanProblem, type ScanStats, createStats } from '../schemas.ts'

/** The job row, which clients poll, is written at most this often. */
const REPORT_MS = 1_000
/** How many problems are kept with the task; all of them are logged. */
const PROBLEMS_MAX = 200

/** Tells everybody how far the scan is, without drowning them. */
export interface Progress {
  stats: ScanStats
  problems: ScanProblem[]
  /** Adds to the totals. */
  add (amounts: Partial<ScanStats>): void
  problem (problem: ScanProblem): void
  /** Notes the name of the platform whose turn it is. */
  platform (name: string): void
  /** Sends what is still unsent. */
  flush (): Promise<void>
  close (): void
}

export function createProgress (
  app: FastifyInstance, log: Logger, listeners: Listeners, report: (meta: Record<string, unknown>) => Promise<void>
): Progress {
  const stats = createStats()
  const problems: ScanProblem[] = []
  const endMeasuring = app.scans.measures.begin(stats)
  let problemCount = 0
  let platform: string | null = null
  let isStale = false
  let sentAt = 0
  let reportedAt = 0
  let reports: Promise<void> = Promise.resolve()

  /** One after the other: an older total must never overwrite a newer one. */
  function write (): Promise<void> {
    reports = reports.catch(() => { /* told to whoever asked for that one */ })
      .then(() => report(toStorable({ scan_stats: stats, platform, problems, problem_count: problemCount })))
    return reports
  }

  async function send (): Promise<void> {
    if (!isStale) return
    isStale = false
    sentAt = Date.now()
    app.sockets.publish(null, 'scan:update_stats', { ...stats })
    if (Date.now() - reportedAt < REPORT_MS) return
    reportedAt = Date.now()
    await write()
  }

  const timer = setInterval(() => {
    const perSecond = listeners.perSecond('stats')
    if (perSecond < PER_SECOND.stats && Date.now() - sentAt < 1_000 / perSecond) return
    if (!isStale || listeners.reserve(1) === 0) return
    send().catch((err: unknown) => { log.warn({ err }, 'progress could not be reported') })
  }, 1_000 / PER_SECOND.stats)

  return {
    stats,
    problems,
    add (amounts) {
      for (const [name, amount] of Object.entries(amounts)) stats[name as keyof ScanStats] += amount
      app.scans.measures.add(amounts)
      isStale = true
    },
    problem (problem) {
      log.warn(problem, 'left out of the scan')
      problemCount++
      if (problems.length < PROBLEMS_MAX) problems.push(problem)
    },
    platform (name) {
      platform = name
      isStale = true
    },
    async flush () {
      isStale = true
      reportedAt = 0
      await send()
    },
    close () {
      clearInterval(timer)
      endMeasuring()
    }
  }
}
