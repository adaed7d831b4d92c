import type { TObject } from '@sinclair/typebox'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { GrantAction, GrantEntity } from '../../core/access/grants.ts'
import type { Scope } from '../../core/access/scopes.ts'
import type { Task } from './entities.ts'

/** The queue of all tasks in the catalogue. Other tasks are in the queue of their type. */
export const TASK_QUEUE = 'tasks'

/** The input of one run of a task. */
export interface TaskRun<Payload = Record<string, unknown>> {
  id: string
  payload: Payload
  /** The person who started the task; null for the operator and the server. */
  user_id: number | null
  /**
   * First start of the task by the clock of the database. It is earlier than now if another worker started the task.
   */
  begun_at: Date
  /** Aborted if a person stops the task, its time is up or the worker shuts down. */
  signal: AbortSignal
  /** Replaces `meta` in `GET /api/tasks/{id}`. */
  report (meta: Record<string, unknown>): Promise<void>
}

/** Thrown if another worker continues the task, because this process shuts down or counts as dead. */
export class TaskHandedOver extends Error {
  override readonly name = 'TaskHandedOver'
}

/** Permission that a caller needs besides `tasks.run`: the same as for the route with the same effect. */
export interface TaskRight { scope: Scope, grant: readonly [GrantEntity, GrantAction] }

/** Permission for tasks that delete or replace files of the library. */
export const DELETES_ROMS: TaskRight = { scope: 'roms.write', grant: ['roms', 'delete'] }

/** A task of the catalogue. */
export interface TaskDefinition {
  name: string
  title: string
  description: string
  type: Task['type']
  group: 'scheduled' | 'manual' | 'watcher'
  /** True if its schedule is switched on. */
  enabled: boolean
  /** True if a person may start it. */
  manual_run: boolean
  /** Five fields, UTC; empty if it has no schedule. */
  cron_string: string
  destructive: false | TaskRight
  /** True if only one may wait or run at a time. */
  isSingle: boolean
  /** Time limit in seconds, if more than TASK_TIMEOUT. */
  timeoutSeconds?: number
  arguments: TObject
  /** True if the task can run now, the default. A task that cannot is not listed, and nothing starts it. */
  isAvailable? (): boolean
  /** Checks a manual run with these arguments before it is queued. @throws ApiError */
  check? (args: Record<string, unknown>, caller: Caller | null): Promise<void>
  run (run: TaskRun): Promise<void>
  /** Starts another task instead, if a person requests this one. */
  startInstead? (userId: number | null): Promise<Task>
}

/** The code that runs the tasks of one queue in a worker. */
export interface Runner {
  /** Most tasks that run at once in one worker. */
  concurrency: number
  /** The name of the setting that limits the time, for messages. */
  timeoutName: string
  /** Time limit of the longest of its tasks in seconds. */
  timeoutSeconds: number
  /** Time limit of one task in seconds. */
  timeoutOf? (task: Task): number
  run (run: TaskRun): Promise<void>
}

export interface StartOptions {
  queue: string
  title: string
  type: Task['type']
  task_key?: string | null
  payload: Record<string, unknown>
  /** At most one waiting or running task may hold it. */
  lock?: string | null
  lockedMessage: string
  priority?: number
  user_id?: number | null
}

/** Removes from reports of tasks whatever is hidden from the caller. */
export type ReportFilter = (context: Context, reports: readonly Task['meta'][]) => Promise<Task['meta'][]>

/** Called for every task that finished, failed or was stopped, after its row is updated. */
export type EndListener = (task: Task) => Promise<void> | void
