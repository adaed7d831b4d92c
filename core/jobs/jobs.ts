import { setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'
import type { Job, PgBoss } from 'pg-boss'
import { outsideRequestTime } from '../database/request-time.ts'
import { ApiError } from '../errors.ts'
import { asRequest, currentRequestId } from '../request-id.ts'
import { createAskingBoss, createBoss } from './boss.ts'

export interface JobOptions {
  /** Higher goes first; default 0. */
  priority?: number
  /** Seconds until the job may start. */
  delaySeconds?: number
  /** The job's id, a UUID; an existing job with this id is replaced. */
  id?: string
  /** Jobs of one group run one at a time; waiting ones do not delay other groups. */
  group?: string
  /** In a shared queue: a waiting or running job with this key is used in place of the new one, whoever sent it. */
  key?: string
}

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
   * @throws ApiError UNAVAILABLE if no worker answered within `timeoutMs`, and seconds after its worker died.
   */
  request (name: string, input: object, timeoutMs: number, options?: JobOptions): Promise<unknown>
  /** Runs a job at the times of a cron line (five fields, UTC). */
  schedule (name: string, key: string, cron: string | null, input: object): Promise<void>
  /** True if this process runs a job now. */
  isBusy (): boolean
}

declare module 'fastify' {
  interface FastifyInstance { jobs: Jobs }
}

/** The job that was queued, or the one that it joined. */
interface QueuedJob { id: string, isJoined: boolean }
type Running = Pick<Job<unknown>, 'id' | 'data' | 'signal'>
interface JobsOptions { url: string, runsJobs: boolean }

/** The field of a job's data with the id of the request that queued it, beside the input. */
const REQUEST_KEY = '$request'
/** The data of a job as stored in the queue. */
type StoredData = Record<string, unknown> & { [REQUEST_KEY]?: string }

const UNENDED_STATES: ReadonlySet<string> = new Set(['created', 'retry', 'active'])
const ENQUEUE_ATTEMPTS_MAX = 3
/** A job becomes active a moment before its worker holds its lock, and completed a moment after. */
const UNLOCKED_MS = 3_000
const WORKER_CHECK_MS = 1_000
const POLL_MS = [20, 30, 50, 100, 200]

export default fp<JobsOptions>(async (app, { url, runsJobs }) => {
  const queues = new Map<string, QueueDefinition<never>>()
  let opened: Promise<PgBoss> | undefined
  let running = 0

  async function openBoss (): Promise<PgBoss> {
    const boss = runsJobs ? await createBoss(url) : await createAskingBoss(app.pg)
    boss.on('error', (err) => { app.log.error({ err }, 'job queue failed') })
    await boss.start()
    // One after the other, because there are more queues than connections, and the wait for a connection is short.
    for (const [name, queue] of queues) {
      await boss.createQueue(name, {
        notify: true, retryLimit: 0, expireInSeconds: Math.min(queue.timeoutSeconds + 60, 86_000),
        deleteAfterSeconds: 86_400, retentionSeconds: 86_400 * 7, policy: queue.isShared === true ? 'exclusive' : 'standard'
      })
    }
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
   * Runs a job for its request. An unexpected failure is logged and replaced by a neutral one, because the request gets
   * its text, which may hold paths or statements.
   */
  async function runJob (
    name: string, queue: QueueDefinition<never>, { id, data, signal }: Running
  ): Promise<object | null> {
    const { [REQUEST_KEY]: requestId, ...input } = data as StoredData
    return await asRequest(requestId, async () => {
      try {
        return await queue.run(input as never, signal)
      } catch (err) {
        if (err instanceof ApiError) throw err
        app.log.error({ err, queue: name, job: id }, 'a job failed')
        throw new Error(`The scan worker failed; its log says why (job ${id})`, { cause: err })
      }
    })
  }

  /**
   * Runs one job at a time. The next job is fetched at once, because a backlog would otherwise advance at the polling
   * interval.
   */
  async function startSlot (boss: PgBoss, name: string, queue: QueueDefinition<never>): Promise<void> {
    const worker: string = await boss.work(name, {
      batchSize: 1, pollingIntervalSeconds: 2, notifyPollingIntervalSeconds: 5, localGroupConcurrency: 1
    }, async ([job]) => {
      running++
      try {
        return job === undefined ? null : await app.workers.runLocked(job.id, () => runJob(name, queue, job))
      } finally {
        running--
        boss.notifyWorker(worker)
      }
    })
  }

  /**
   * Returns the id of the job in place of a new one: it was just queued under its id, or waits or runs under its key.
   */
  async function findConflictingJob (name: string, { id, key }: JobOptions): Promise<string | undefined> {
    const boss = await useBoss()
    if (id !== undefined) return (await boss.findJobs(name, { id }))[0]?.id
    if (key === undefined) return undefined
    const jobs = await boss.findJobs(name, { key })
    return jobs.find(({ state }) => UNENDED_STATES.has(state))?.id
  }

  /** Returns the request that queued a job which is about to be replaced, because the new job continues its work. */
  async function findRequest (name: string, id: string | undefined): Promise<string | undefined> {
    if (id === undefined) return undefined
    const boss = await useBoss()
    const [job] = await boss.findJobs<StoredData>(name, { id })
    return job?.data[REQUEST_KEY]
  }

  async function enqueue (name: string, input: object, options: JobOptions = {}): Promise<QueuedJob> {
    const boss = await useBoss()
    const requestId = currentRequestId() ?? await findRequest(name, options.id)
    const stored: StoredData = { ...input, ...(requestId === undefined ? {} : { [REQUEST_KEY]: requestId }) }
    if (options.id !== undefined) await boss.deleteJob(name, options.id)
    for (let attempts = 1; attempts <= ENQUEUE_ATTEMPTS_MAX; attempts++) {
      const id = await boss.send(name, stored, {
        priority: options.priority ?? 0,
        ...(options.id === undefined ? {} : { id: options.id }),
        ...(options.group === undefined ? {} : { group: { id: options.group } }),
        ...(options.key === undefined ? {} : { singletonKey: options.key }),
        ...(options.delaySeconds === undefined ? {} : { startAfter: options.delaySeconds })
      })
      if (id !== null) return { id, isJoined: false }
      // The conflicting job may end before it is found.
      const other = await findConflictingJob(name, options)
      if (other !== undefined) return { id: other, isJoined: true }
    }
    throw new ApiError('UNAVAILABLE', `A job could not be queued in '${name}'; try again`)
  }

  /** Creates a check whether the worker of a running job is gone. The check is called repeatedly. */
  function watchWorker (id: string): (state: string | undefined) => Promise<boolean> {
    let checkedAt = 0
    let unlockedSince: number | null = null
    return async (state) => {
      const now = Date.now()
      if (state !== 'active') {
        unlockedSince = null
        return false
      }
      if (now - checkedAt < WORKER_CHECK_MS) return false
      checkedAt = now
      unlockedSince = await app.workers.isLocked(id) ? null : unlockedSince ?? now
      return unlockedSince !== null && now - unlockedSince >= UNLOCKED_MS
    }
  }

  async function awaitResult (name: string, { id, isJoined }: QueuedJob, timeoutMs: number): Promise<unknown> {
    const boss = await useBoss()
    const deadline = Date.now() + timeoutMs
    const isLost = watchWorker(id)
    for (let attempts = 0; ; attempts++) {
      await sleep(POLL_MS[Math.min(attempts, POLL_MS.length - 1)])
      const isLate = Date.now() >= deadline
      // A job that ended at the last moment is no longer canceled, and its result counts.
      if (isLate && !isJoined) await boss.cancel(name, id)
      const [job] = await boss.findJobs(name, { id })
      if (job?.state === 'completed') return job.output
      if (job?.state === 'failed') throw new ApiError('UNAVAILABLE', readFailure(job.output))
      if (isLate || job?.state === 'cancelled') break
      if (await isLost(job?.state)) {
        await boss.cancel(name, id)
        throw new ApiError('UNAVAILABLE', 'The scan worker ended before it answered. Check whether the work was done, and try again if not.')
      }
    }
    throw new ApiError('UNAVAILABLE', 'No scan worker answered in time. Check that one is running.')
  }

  app.decorate('jobs', {
    define (name, definition) {
      if (queues.has(name)) throw new Error(`Queue '${name}' is defined twice`)
      queues.set(name, definition)
    },
    send: async (name, input, options) => (await enqueue(name, input, options)).id,
    async request (name, input, timeoutMs, options) {
      const queued = await enqueue(name, input, options)
      return await outsideRequestTime(() => awaitResult(name, queued, timeoutMs))
    },
    async schedule (name, key, cron, input) {
      const boss = await useBoss()
      if (cron === null) await boss.unschedule(name, key)
      else await boss.schedule(name, cron, input, { key, tz: 'UTC' })
    },
    isBusy: () => running > 0
  } satisfies Jobs)

  app.addHook('onReady', async () => {
    if (!runsJobs) return
    const boss = await useBoss()
    for (const [name, queue] of queues) {
      for (let slot = 0; slot < queue.concurrency; slot++) await startSlot(boss, name, queue)
    }
  })
  app.addHook('onClose', async () => { await (await opened)?.stop({ graceful: runsJobs, timeout: 8_000, close: true }) })
}, { name: 'jobs', fastify: '5.x', dependencies: ['database', 'workers'] })

/** Returns the message of a failed job. */
function readFailure (output: unknown): string {
  const { message } = (output ?? {}) as { message?: unknown }
  return typeof message === 'string' ? message : 'The scan worker failed'
}
