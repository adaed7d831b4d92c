import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { toStorable } from '../../../core/database/json.ts'
import { type Listeners, PER_SECOND } from './listeners.ts'
import type { ScanProblem } from '../../matching/scan-types.ts'
import { COUNTERS, type ScanStats, createStats } from '../schemas.ts'

/** The job row, which clients poll, is written at most this often. */
const REPORT_MS = 1_000
/** The number of problems that the task stores; the log has all of them. */
export const PROBLEMS_MAX = 200

/** Totals and the first problems of a part of a scan. */
export interface ScanReport { stats: Partial<ScanStats>, problems: readonly ScanProblem[], problem_count: number }

/** Reports the progress of the scan, at a rate that clients can handle. */
export interface Progress {
  stats: ScanStats
  problems: ScanProblem[]
  /** Adds to the totals. */
  add (amounts: Partial<ScanStats>): void
  problem (problem: ScanProblem): void
  /** Sets the totals and problems of other workers at this scan, which replace the former ones. */
  setOthers (others: ScanReport): void
  /** Sets the name of the platform that is being scanned. */
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
  let others: ScanReport = { stats: {}, problems: [], problem_count: 0 }
  let platform: string | null = null
  let isStale = false
  let sentAt = -Infinity
  let reportedAt = -Infinity
  let reports: Promise<void> = Promise.resolve()

  /** Writes reports one after the other, because an older total must never overwrite a newer one. */
  function write (): Promise<void> {
    reports = reports.catch(() => { /* the caller of that write gets the error */ })
      .then(() => report(toStorable({
        scan_stats: stats, platform, problems, problem_count: problemCount + others.problem_count
      })))
    return reports
  }

  async function send (): Promise<void> {
    if (!isStale) return
    isStale = false
    sentAt = performance.now()
    app.sockets.publish(null, 'scan:update_stats', { ...stats })
    if (performance.now() - reportedAt < REPORT_MS) return
    reportedAt = performance.now()
    await write()
  }

  /** Appends new problems, because clients print those after the last one that they know. */
  function appendProblems (given: readonly ScanProblem[]): void {
    const known = new Set(problems.map((problem) => JSON.stringify(problem)))
    const added = given.filter((problem) => !known.has(JSON.stringify(problem)))
    problems.push(...added.slice(0, PROBLEMS_MAX - problems.length))
  }

  const timer = setInterval(() => {
    const perSecond = listeners.perSecond('stats')
    if (perSecond < PER_SECOND.stats && performance.now() - sentAt < 1_000 / perSecond) return
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
      log.warn(problem, 'scan skipped an entry')
      problemCount++
      // Few, but the last ones of a scan.
      if (problems.length < PROBLEMS_MAX || problem.provider !== undefined) problems.push(problem)
    },
    setOthers (given) {
      for (const name of COUNTERS) stats[name] += (given.stats[name] ?? 0) - (others.stats[name] ?? 0)
      if (given.problems !== others.problems) appendProblems(given.problems)
      others = given
      isStale = true
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

/** Creates the progress of a worker that helps with a scan: the worker that leads the scan reports for both. */
export function createHelperProgress (app: FastifyInstance, log: Logger): Progress {
  return {
    stats: createStats(),
    problems: [],
    add: app.scans.measures.add,
    problem (problem) { log.warn(problem, 'scan skipped an entry') },
    setOthers () {},
    platform () {},
    flush: async () => {},
    close () {}
  }
}
