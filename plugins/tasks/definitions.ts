import type { TObject } from '@sinclair/typebox'
import type { GrantAction, GrantEntity } from '../../core/access/grants.ts'
import type { Scope } from '../../core/access/scopes.ts'
import type { Task } from './entities.ts'

/** What a task sees of its own run. */
export interface TaskRun<Payload = Record<string, unknown>> {
  id: string
  payload: Payload
  /** When it was first begun, by the clock of the database; earlier than now when another worker began it. */
  begun_at: Date
  /** Aborted when a person stops the task, its time is up or the worker shuts down. */
  signal: AbortSignal
  /** Replaces what `GET /api/tasks/{id}` shows as meta. */
  report (meta: Record<string, unknown>): Promise<void>
}

/** What a caller needs besides `tasks.run`: as much as for the route that deletes the same things. */
export interface DeletionRight { scope: Scope, grant: readonly [GrantEntity, GrantAction] }

/** Of tasks that delete or replace files of the library. */
export const DELETES_ROMS: DeletionRight = { scope: 'roms.write', grant: ['roms', 'delete'] }

/** An entry of the task catalogue. */
export interface TaskDefinition {
  name: string
  title: string
  description: string
  type: Task['type']
  group: 'scheduled' | 'manual' | 'watcher'
  /** Whether its schedule is switched on. */
  enabled: boolean
  /** Whether a person may start it. */
  manual_run: boolean
  /** Five fields, UTC; empty when it has no schedule. */
  cron_string: string
  destructive: false | DeletionRight
  /** Whether it may wait or run only once at a time. */
  isSingle: boolean
  /** Seconds it may take when that is more than TASK_TIMEOUT. */
  timeoutSeconds?: number
  arguments: TObject
  /** What speaks against a run by hand with these arguments, before it is queued. @throws ApiError */
  check? (args: Record<string, unknown>): Promise<void>
  run (run: TaskRun): Promise<void>
  /** What a person who asks for it starts in place of a run of it. */
  startByHand? (userId: number | null): Promise<Task>
}

/** Something a worker can do with rows of one queue. */
export interface Runner {
  /** How many run at once in one worker. */
  concurrency: number
  /** The setting that limits the time, as it is named to people. */
  timeoutName: string
  /** Seconds the longest of its tasks may take. */
  timeoutSeconds: number
  /** Seconds one task may take. */
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

/** Told of every task that is finished, failed or stopped, after its row says so. */
export type EndListener = (task: Task) => Promise<void> | void
