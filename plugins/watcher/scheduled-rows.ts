import { randomUUID } from 'node:crypto'
import type { Db } from '../../core/database/db.ts'
import type { ChangedPath } from './debounce.ts'

export const WATCHER_NAME = 'filesystem_watcher'
export const WATCHER_TITLE = 'Rescan on filesystem change'

/** The payload of a waiting scan. */
export interface WatcherPayload extends Record<string, unknown> {
  /** Platform folders. */
  platform_fs_slugs: string[]
  /** True if the scan reads the whole library, whatever the folders are. */
  is_everything: boolean
}

export interface ScheduleState {
  /** True if nobody stopped the waiting scan. */
  is_waiting: boolean
  /** True if a library scan is queued or running. */
  is_busy: boolean
  /** True if a scan that started after the last change has already read these platforms. */
  is_covered: boolean
}

/** Counts only scans of types that read every entry, also new ones. */
const SELECT_STATE = `select
  exists (select 1 from tasks where id = any($1) and status = 'scheduled') as is_waiting,
  exists (select 1 from tasks where type = 'scan' and task_key is null and lock is not null
    and status in ('queued', 'started')) as is_busy,
  exists (select 1 from tasks where type = 'scan' and task_key is null and lock is not null and status = 'finished'
    and started_at > now() - $2 * interval '1 millisecond' and payload->>'type' in ('quick', 'complete', 'hashes')
    and coalesce(payload->'library_ids', '[]') = '[]' and (payload->'platforms' = '[]' and payload->'platform_fs_slugs' = '[]'
      or not $3 and payload->'platform_fs_slugs' @> $4::jsonb)) as is_covered`

/** Returns the changed platforms of a payload. */
const pathsOf = ({ platform_fs_slugs: slugs, is_everything: isEverything }: WatcherPayload): ChangedPath[] =>
  isEverything ? [null, ...slugs] : slugs

export function toPayload (paths: ReadonlySet<ChangedPath>): WatcherPayload {
  return {
    platform_fs_slugs: [...paths].filter((path) => path !== null).sort(), is_everything: paths.has(null)
  }
}

/** Creates access to the rows of a waiting scan, which survive the worker. */
export function createScheduledRows (db: Db) {
  return {
    /** Loads the waiting scan, whichever worker stored it. */
    async load (): Promise<{ ids: string[], paths: ChangedPath[] }> {
      const { rows } = await db.query<{ id: string, payload: WatcherPayload }>(
        "select id, payload from tasks where task_key = $1 and status = 'scheduled'", [WATCHER_NAME])
      return { ids: rows.map(({ id }) => id), paths: rows.flatMap(({ payload }) => pathsOf(payload)) }
    },

    async insert (paths: ReadonlySet<ChangedPath>): Promise<string> {
      const id = randomUUID()
      await db.query(`insert into tasks (id, task_key, title, type, status, payload)
        values ($1, $2, $3, 'scan', 'scheduled', $4)`, [id, WATCHER_NAME, WATCHER_TITLE, toPayload(paths)])
      return id
    },

    /** Updates the waiting scan. @returns false if the scan was stopped */
    async update (ids: readonly string[], paths: ReadonlySet<ChangedPath>): Promise<boolean> {
      const { rowCount } = await db.query(
        "update tasks set payload = $2 where id = any($1) and status = 'scheduled'", [ids, toPayload(paths)])
      return rowCount !== null && rowCount > 0
    },

    async readState (
      ids: readonly string[], paths: ReadonlySet<ChangedPath>, sinceLastMs: number
    ): Promise<ScheduleState> {
      const { platform_fs_slugs: slugs, is_everything: isEverything } = toPayload(paths)
      const { rows } = await db.query<ScheduleState>(
        SELECT_STATE, [ids, sinceLastMs, isEverything, JSON.stringify(slugs)]
      )
      return rows[0] ?? { is_waiting: false, is_busy: false, is_covered: false }
    },

    async end (ids: readonly string[], status: 'finished' | 'canceled'): Promise<void> {
      await db.query("update tasks set status = $2, ended_at = now() where id = any($1) and status = 'scheduled'",
        [ids, status])
    },

    /** Cancels scans that were stored before the watcher was disabled. */
    async cancel (): Promise<void> {
      await db.query(
        "update tasks set status = 'canceled', ended_at = now() where task_key = $1 and status = 'scheduled'",
        [WATCHER_NAME])
    }
  }
}
