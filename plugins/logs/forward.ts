import type { FastifyInstance } from 'fastify'
import { outsideRequestTime } from '../../core/database/request-time.ts'
import { readLines } from '../../core/log/log.ts'
import { ADMIN_ROOM } from '../../core/sockets/sockets.ts'
import { Budget } from './budget.ts'
import './events.ts'
import { addLines, hasSeveralHosts } from './rows.ts'
import { LINES_MAX, type LogEntry } from './schemas.ts'
import { toLogView } from './views.ts'
import { LineBuffer } from './line-buffer.ts'

/** Bounds that show all lines of a start or a scan, and only a number of lines per second of a flood. */
const BATCH_LINES = LINES_MAX / 2
const PER_SECOND = 200
const WAITING_MAX_BYTES = 4 * 1024 ** 2
/** A single line is sent at once. Lines that follow within this time are sent together. */
const PAUSE_MS = 100
/** The pause during a flood, and after the database failed. */
const LONG_PAUSE_MS = 1_000
/** Interval between two counts of the hosts. */
const HOSTS_MS = 10_000

const toNotice = (count: number, ts = Date.now()): LogEntry => ({
  ts,
  level: 'WARNING',
  module: 'logs',
  message: `${count} lines were skipped here, because there were too many at once; the log of the process has them`
})

/** Creates the question whether lines name their host, because there are several. */
function createHostQuestion (app: FastifyInstance): () => Promise<boolean> {
  let counted = { hasSeveral: false, at: -Infinity }
  return async () => {
    if (performance.now() - counted.at > HOSTS_MS) {
      counted = { hasSeveral: await hasSeveralHosts(app.db), at: performance.now() }
    }
    return counted.hasSeveral
  }
}

/**
 * Forwards the log lines of this process to administrators. Logging code never waits. Errors in this function are not
 * logged, because they would be forwarded in turn, endlessly.
 */
export function forwardLines (app: FastifyInstance): void {
  const waiting = new LineBuffer(LINES_MAX, WAITING_MAX_BYTES)
  const budget = new Budget(BATCH_LINES, PER_SECOND)
  let timer: NodeJS.Timeout | undefined
  let forwarding: Promise<void> | null = null
  let forwardedAt = -Infinity
  let pauseMs = PAUSE_MS
  const namesHost = createHostQuestion(app)

  async function forward (): Promise<void> {
    const { lines, dropped } = waiting.takeNewest(budget.remaining)
    budget.spend(lines.length)
    const entries: LogEntry[] = []
    pauseMs = dropped > 0 ? LONG_PAUSE_MS : PAUSE_MS
    try {
      const hasHost = await namesHost()
      entries.push(...lines.flatMap((line) => toLogView(line, hasHost) ?? []))
      // The notice replaces lines that are older than the entries.
      if (dropped > 0) entries.unshift(toNotice(dropped, entries[0]?.ts))
      await addLines(app.db, entries)
    } catch {
      waiting.leaveOut(lines.length + dropped)
      pauseMs = LONG_PAUSE_MS
      return
    }
    for (const entry of entries) app.sockets.publish(ADMIN_ROOM, 'logs:entry', entry)
  }

  function start (): void {
    timer = undefined
    forwarding = forward().finally(() => {
      forwarding = null
      forwardedAt = performance.now()
      plan()
    })
  }

  function plan (): void {
    if (timer !== undefined || forwarding !== null || waiting.isEmpty) return
    const delayMs = Math.max(0, forwardedAt + pauseMs - performance.now())
    // The timer must not inherit the time limit of the request that logged the line.
    timer = outsideRequestTime(() => setTimeout(start, delayMs).unref())
  }

  const stop = readLines(app.log, (line) => {
    waiting.add(line)
    plan()
  })
  app.addHook('onClose', async () => {
    stop()
    clearTimeout(timer)
    await forwarding
    clearTimeout(timer)
    if (!waiting.isEmpty) await forward()
  })
}
