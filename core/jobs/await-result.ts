import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { PgBoss } from 'pg-boss'
import { ApiError } from '../errors.ts'
import type { QueuedJob } from './enqueue.ts'

type Workers = Pick<FastifyInstance['workers'], 'isLocked'>

/** A job becomes active a moment before its worker holds its lock, and completed a moment after. */
const UNLOCKED_MS = 3_000
const WORKER_CHECK_MS = 1_000
const POLL_MS = [20, 30, 50, 100, 200]

/** Creates a check whether the worker of a running job is gone. The check is called repeatedly. */
function watchWorker (workers: Workers, id: string): (state: string | undefined) => Promise<boolean> {
  let checkedAt = 0
  let unlockedSince: number | null = null
  return async (state) => {
    const now = performance.now()
    if (state !== 'active') {
      unlockedSince = null
      return false
    }
    if (now - checkedAt < WORKER_CHECK_MS) return false
    checkedAt = now
    unlockedSince = await workers.isLocked(id) ? null : unlockedSince ?? now
    return unlockedSince !== null && now - unlockedSince >= UNLOCKED_MS
  }
}

/**
 * Waits for the result of a job. A job that this request queued is canceled at the timeout.
 *
 * @throws ApiError UNAVAILABLE if no worker answered in time, and seconds after its worker died
 */
export async function awaitResult (
  workers: Workers, boss: PgBoss, { queue, id, isJoined }: QueuedJob, timeoutMs: number
): Promise<unknown> {
  const deadline = performance.now() + timeoutMs
  const isLost = watchWorker(workers, id)
  for (let attempts = 0; ; attempts++) {
    await sleep(POLL_MS[Math.min(attempts, POLL_MS.length - 1)])
    const isLate = performance.now() >= deadline
    // A job that ended at the last moment is no longer canceled, and its result counts.
    if (isLate && !isJoined) await boss.cancel(queue, id)
    const [job] = await boss.findJobs(queue, { id })
    if (job?.state === 'completed') return job.output
    if (job?.state === 'failed') throw new ApiError('UNAVAILABLE', readFailure(job.output))
    if (isLate || job?.state === 'cancelled') break
    if (await isLost(job?.state)) {
      await boss.cancel(queue, id)
      throw new ApiError('UNAVAILABLE', 'The scan worker ended before it answered. Check whether the work was done, and try again if not.')
    }
  }
  throw new ApiError('UNAVAILABLE', 'No scan worker answered in time. Check that one is running.')
}

/** Returns the message of a failed job. */
function readFailure (output: unknown): string {
  const { message } = (output ?? {}) as { message?: unknown }
  return typeof message === 'string' ? message : 'The scan worker failed'
}
