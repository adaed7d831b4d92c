import { createHash } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import type { Job, PgBoss } from 'pg-boss'
import { databaseNow } from '../database/clock.ts'
import { outsideRequestTime } from '../database/request-time.ts'
import { fixTimes, isCron } from '../config/cron.ts'
import { toStorable } from '../database/json.ts'
import { ApiError } from '../errors.ts'
import { asRequest } from '../log/request-id.ts'
import { awaitResult } from './await-result.ts'
import { createAskingBoss, createBoss } from './boss.ts'
import { type JobOptions, REQUEST_KEY, type StoredData, enqueue } from './enqueue.ts'
import { createFailureLog } from './log-failures.ts'
import { WORKER_START_MS } from './workers.ts'

export interface QueueDefinition<Input extends object> {
  /** The number of jobs of this queue that one worker runs at once. */
  concurrency: number
  /** Seconds after which a running job counts as lost. */
  timeoutSeconds: number
  /** True if a new job joins an equal one that waits or runs; each job then has a key. */
  isShared?: boolean
  run (input: Input, signal: AbortSignal): Promise<object | null>
}

/** Durable jobs: stored in the database and run by the scan worker, whichever process sent them. */
export interface Jobs {
  define<Input extends object> (name: string, definition: QueueDefinition<Input>): void
  /** Queues a job. @returns the id of the job, a UUID, or of the job that it joins. */
  send (name: string, input: object, options?: JobOptions): Promise<string>
  /**
   * Sends a job to the scan worker and waits for its result. A job that did not begin in time is canceled.
   *
   * @throws ApiError UNAVAILABLE if no worker answered within `timeoutMs`, or none ran for seconds.
   */
  request (name: string, input: object, timeoutMs: number, options?: JobOptions): Promise<unknown>
  /** Runs a job at the times of a cron line (five fields, UTC). `H` is one time, which depends on queue and key. */
  schedule (name: string, key: string, cron: string | null, input: object): Promise<void>
  /** True if this process runs a job now. */
  isBusy (): boolean
  /** Returns the time of `performance.now()` at which a job ended last in this process. */
  endedAt (): number
}

declare module 'fastify' {
  interface FastifyInstance { jobs: Jobs }
}

/**
 * Two workers that fetch at once may both get a job of one group. pg-boss returns the second one to the queue without a
 * notification, maybe after the first one has ended and its worker has looked for more.
 */
const RETURNED_MS = 1_000

/** The longest wait for a scan worker that does not run. A start takes two seconds, and svc start repeats it. */
const ABSENT_MS = 10_000

/** The queue through which pg-boss sends scheduled jobs. */
const SCHEDULED = '__pgboss__send-it'
/** The time within which pg-boss sends a job that was due, because it looks twice in this time. */
const PASS_MS = 60_000
/** The channel on which pg-boss announces jobs: a hash of the name of its schema. */
const CHANNEL = `pgboss_${createHash('sha224').update('pgboss').digest('hex').slice(0, 24)}`
const HAS_WAITING =
  "select 1 from pgboss.job where state < 'active' and name = any($1) and start_after <= now() limit 1"

type Running = Pick<Job<unknown>, 'id' | 'data' | 'signal'>
interface JobsOptions { url: string, runsJobs: boolean }
interface NamedQueue { name: string, definition: QueueDefinition<never> }

/** Creates the queues that the database lacks. Creating one takes a transaction, so no start repeats it. */
async function createQueues (boss: PgBoss, queues: ReadonlyMap<string, QueueDefinition<never>>): Promise<void> {
  const existing = new Set((await boss.getQueues([...queues.keys()])).map(({ name }) => name))
  // One after the other, because there are more queues than connections, and the wait for a connection is short.
  for (const [name, { timeoutSeconds, isShared = false }] of queues) {
    if (existing.has(name)) continue
    await boss.createQueue(name, {
      notify: true, retryLimit: 0, expireInSeconds: Math.min(timeoutSeconds + 60, 86_000),
      deleteAfterSeconds: 86_400, retentionSeconds: 86_400 * 7, policy: isShared ? 'exclusive' : 'standard'
    })
  }
}

/**
 * Runs a job for its request. An unexpected failure is logged and replaced by a neutral one, because the request gets
 * its text, which may hold paths or statements.
 */
async function runJob (
  { name, definition }: NamedQueue, { id, data, signal }: Running, log: FastifyBaseLogger
): Promise<object | null> {
  const { [REQUEST_KEY]: requestId, ...input } = data as StoredData
  return await asRequest(requestId, async () => {
    try {
      return toStorable(await definition.run(input as never, signal))
    } catch (err) {
      if (err instanceof ApiError) throw err
      log.error({ err, queue: name, job: id }, 'a job failed')
      throw new Error(`The scan worker failed; its log says why (job ${id})`, { cause: err })
    }
  })
}

export default fp<JobsOptions>(async (app, { url, runsJobs }) => {
  const queues = new Map<string, QueueDefinition<never>>()
  let opened: Promise<PgBoss> | undefined
  let running = 0
  let endedAt = 0
  const closing = new AbortController()
  const logFailure = createFailureLog({ log: app.log, ask: () => app.pg.query('select 1'), signal: closing.signal })

  async function openBoss (): Promise<PgBoss> {
    const boss = runsJobs ? await createBoss(url) : await createAskingBoss(app.pg)
    boss.on('error', logFailure)
    await boss.start()
    await createQueues(boss, queues)
    return boss
  }

  /** Opens the queue at first use. It outlives the request that opened it, so it runs outside of that request. */
  function useBoss (): Promise<PgBoss> {
    opened ??= asRequest(undefined, () => outsideRequestTime(openBoss)).catch((err: unknown) => {
      opened = undefined
      throw err
    })
    return opened
  }

  /**
   * Runs one job at a time. The next job is fetched at once, because a backlog would otherwise advance at the polling
   * interval.
   */
  async function startSlot (boss: PgBoss, queue: NamedQueue): Promise<void> {
    const worker: string = await boss.work(queue.name, {
      // A notification announces each job, so polling is only for a lost one.
      batchSize: 1, pollingIntervalSeconds: 2, notifyPollingIntervalSeconds: 30, localGroupConcurrency: 1
    }, async ([job]) => {
      running++
      try {
        return job === undefined ? null : await app.workers.runLocked(job.id, () => runJob(queue, job, app.log))
      } finally {
        running--
        endedAt = performance.now()
        boss.notifyWorker(worker)
        if (typeof job?.groupId === 'string') setTimeout(() => { boss.notifyWorker(worker) }, RETURNED_MS).unref()
      }
    })
  }

  app.rest.addSource({
    name: 'jobs',
    channel: CHANNEL,
    async hasWork () {
      if (running > 0) return true
      const { rowCount } = await app.db.query(HAS_WAITING, [[...queues.keys(), SCHEDULED]])
      return rowCount === 1
    },
    async findNext () {
      const boss = await useBoss()
      const schedules = (await boss.getSchedules()).filter(({ name }) => queues.has(name))
      const from = new Date(databaseNow() - PASS_MS)
      const times = schedules.flatMap(({ cron, timezone: tz }) => boss.previewSchedule(cron, { tz, count: 1, from }))
      return times.length === 0 ? null : Math.min(...times.map((time) => time.getTime()))
    }
  })

  app.decorate('jobs', {
    define (name, definition) {
      if (queues.has(name)) throw new Error(`Queue '${name}' is defined twice`)
      queues.set(name, definition)
    },
    send: async (name, input, options) => (await enqueue(await useBoss(), name, input, options)).id,
    async request (name, input, timeoutMs, options) {
      const boss = await useBoss()
      // The job wakes the worker, whose start is no part of the work.
      const startMs = await app.workers.isResting() ? WORKER_START_MS : 0
      const queued = await enqueue(boss, name, input, options)
      const limits = { timeoutMs: timeoutMs + startMs, absentMs: Math.max(ABSENT_MS, startMs) }
      return await outsideRequestTime(() => awaitResult(app.workers, boss, queued, limits))
    },
    async schedule (name, key, cron, input) {
      const boss = await useBoss()
      if (cron === null) await boss.unschedule(name, key)
      // pg-boss would choose another time for H at each look. It refuses an invalid line.
      else await boss.schedule(name, isCron(cron) ? fixTimes(cron, `${name} ${key}`) : cron, input, { key, tz: 'UTC' })
    },
    isBusy: () => running > 0,
    endedAt: () => endedAt
  } satisfies Jobs)

  app.addHook('onReady', async () => {
    if (!runsJobs) return
    const boss = await useBoss()
    for (const [name, definition] of queues) {
      for (let slot = 0; slot < definition.concurrency; slot++) await startSlot(boss, { name, definition })
    }
  })
  app.addHook('preClose', async () => { closing.abort() })
  app.addHook('onClose', async () => { await (await opened)?.stop({ graceful: runsJobs, timeout: 8_000, close: true }) })
}, { name: 'jobs', fastify: '5.x', dependencies: ['database', 'workers', 'rest'] })
