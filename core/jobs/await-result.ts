import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { PgBoss } from 'pg-boss'
import { ApiError } from '../errors.ts'
import type { QueuedJob } from './enqueue.ts'

type Workers = Pick<FastifyInstance['workers'], 'isLocked' | 'findAbsence'>

export interface ResultLimits {
  /** The longest wait for the result. */
  timeoutMs: number
  /** The longest wait while no scan worker runs. */
  absentMs: number
}

/** A job becomes active a moment before its worker holds its lock, and completed a moment after. */
const UNLOCKED_MS = 3_000
const LATE = 'No scan worker answered in time. Check that one is running.'
const LOST = 'The scan worker ended before it answered. Check whether the work was done, and try again if not.'
const WORKER_CHECK_MS = 1_000
const POLL_MS = [20, 30, 50, 100, 200]

/** Creates a check that returns the error of a job that no worker will finish. The check is called repeatedly. */
function watchWorker (workers: Workers, { id }: QueuedJob, absentMs: number) {
  let checkedAt = 0
  let seen = { isActive: false, at: performance.now() }

  const findProblem = async (isActive: boolean): Promise<ApiError | null> => {
    if (!isActive) return await workers.findAbsence()
    return await workers.isLocked(id) ? null : new ApiError('UNAVAILABLE', LOST)
  }

  return async (state: string | undefined): Promise<ApiError | null> => {
    const now = performance.now()
    const isActive = state === 'active'
    if (isActive !== seen.isActive) seen = { isActive, at: now }
    if (now - checkedAt < WORKER_CHECK_MS) return null
    checkedAt = now
    const problem = await findProblem(isActive)
    if (problem === null) seen.at = now
    return now - seen.at >= (isActive ? UNLOCKED_MS : absentMs) ? problem : null
  }
}

/**
 * Waits for the result of a job. A job that this request queued is canceled at the timeout, or if no worker runs.
 *
 * @throws ApiError UNAVAILABLE if no worker answered in time, and seconds after its worker died
 */
export async function awaitResult (
  workers: Workers, boss: PgBoss, queued: QueuedJob, { timeoutMs, absentMs }: ResultLimits
): Promise<unknown> {
  const { queue, id, isJoined } = queued
  const deadline = performance.now() + timeoutMs
  const findProblem = watchWorker(workers, queued, absentMs)
  let problem: ApiError | null = null
  for (let attempts = 0; ; attempts++) {
    await sleep(POLL_MS[Math.min(attempts, POLL_MS.length - 1)])
    if (performance.now() >= deadline) problem ??= new ApiError('UNAVAILABLE', LATE)
    // A job that ended at the last moment is no longer canceled, and its result counts.
    if (problem !== null && (!isJoined || problem.message === LOST)) await boss.cancel(queue, id)
    const [job] = await boss.findJobs(queue, { id })
    if (job?.state === 'completed') return job.output
    if (job?.state === 'failed') throw new ApiError('UNAVAILABLE', readFailure(job.output))
    if (problem !== null) throw problem
    if (job?.state === 'cancelled') throw new ApiError('UNAVAILABLE', LATE)
    problem = await findProblem(job?.state)
  }
}

/** Returns the message of a failed job. */
function readFailure (output: unknown): string {
  const { message } = (output ?? {}) as { message?: unknown }
  return typeof message === 'string' ? message : 'The scan worker failed'
}
