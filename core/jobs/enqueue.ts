import type { PgBoss } from 'pg-boss'
import { toStorable } from '../database/json.ts'
import { ApiError } from '../errors.ts'
import { currentRequestId } from '../log/request-id.ts'

export interface JobOptions {
  /** Higher goes first; default 0. */
  priority?: number
  /** The job's id, a UUID; an existing job with this id is replaced. */
  id?: string
  /** Jobs of one group run one at a time; waiting ones do not delay other groups. */
  group?: string
  /** In a shared queue: an unfinished job with this key replaces the new one, whoever sent it. */
  key?: string
  /** Seconds until the job may run, and up to half a minute later it does; default 0. */
  delaySeconds?: number
}

/** The job that was queued, or the one that it joined. */
export interface QueuedJob { queue: string, id: string, isJoined: boolean }

/** The field of a job's data with the id of the request that queued it, beside the input. */
export const REQUEST_KEY = '$request'
/** The data of a job as stored in the queue. */
export type StoredData = Record<string, unknown> & { [REQUEST_KEY]?: string }

const UNFINISHED_STATES: ReadonlySet<string> = new Set(['created', 'retry', 'active'])
const ENQUEUE_ATTEMPTS_MAX = 3

/**
 * Finds the existing job that made `send` refuse the new one: the job with the same id, or the unfinished job with the
 * same key. Returns its id.
 */
async function findConflictingJob (
  boss: PgBoss, queue: string, { id, key }: JobOptions
): Promise<string | undefined> {
  if (id !== undefined) return (await boss.findJobs(queue, { id }))[0]?.id
  if (key === undefined) return undefined
  const jobs = await boss.findJobs(queue, { key })
  return jobs.find(({ state }) => UNFINISHED_STATES.has(state))?.id
}

/** Returns the id of the request that queued a job. The job that replaces it continues the work of that request. */
async function findRequestId (boss: PgBoss, queue: string, id: string | undefined): Promise<string | undefined> {
  if (id === undefined) return undefined
  const [job] = await boss.findJobs<StoredData>(queue, { id })
  return job?.data[REQUEST_KEY]
}

/**
 * Queues a job, or joins the waiting or running one of its key.
 *
 * @throws ApiError UNAVAILABLE if other jobs of the key ended again and again in the meantime
 */
export async function enqueue (
  boss: PgBoss, queue: string, input: object, options: JobOptions = {}
): Promise<QueuedJob> {
  const requestId = currentRequestId() ?? await findRequestId(boss, queue, options.id)
  const stored: StoredData = toStorable({ ...input, ...(requestId === undefined ? {} : { [REQUEST_KEY]: requestId }) })
  if (options.id !== undefined) await boss.deleteJob(queue, options.id)
  for (let attempts = 1; attempts <= ENQUEUE_ATTEMPTS_MAX; attempts++) {
    const id = await boss.send(queue, stored, {
      priority: options.priority ?? 0,
      ...(options.id === undefined ? {} : { id: options.id }),
      ...(options.group === undefined ? {} : { group: { id: options.group } }),
      ...(options.key === undefined ? {} : { singletonKey: options.key }),
      ...(options.delaySeconds === undefined ? {} : { startAfter: options.delaySeconds })
    })
    if (id !== null) return { queue, id, isJoined: false }
    // The conflicting job may end before it is found.
    const other = await findConflictingJob(boss, queue, options)
    if (other !== undefined) return { queue, id: other, isJoined: true }
  }
  throw new ApiError('UNAVAILABLE', `A job could not be queued in '${queue}'; try again`)
}
