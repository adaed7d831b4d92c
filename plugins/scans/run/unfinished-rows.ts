import type { Db } from '../../../core/database/db.ts'
import type { TaskRun } from '../../tasks/definitions.ts'

/**
 * The times between which failed or stopped scans added ROMs, which they may not have looked up. The current scan
 * finishes them.
 */
export interface UnfinishedRoms {
  /** The first start of this scan. Rows created since then are its own, even if another worker started it. */
  startedAt: Date
  /** The start of the oldest unfinished scan, or of this scan. */
  since: Date
}

/** Selects the failed and stopped scans after which no scan of the whole library has finished. */
const OLDEST = `select min(u.started_at) as begun_at from tasks u
  where u.type = 'scan' and u.task_key is null and u.status in ('failed', 'stopped') and not exists (
    select 1 from tasks f where f.type = 'scan' and f.task_key is null and f.status = 'finished'
      and f.started_at > u.started_at and f.payload->>'type' in ('quick', 'update', 'unmatched', 'complete')
      and jsonb_array_length(coalesce(f.payload->'platforms', '[]')) = 0
      and jsonb_array_length(coalesce(f.payload->'platform_fs_slugs', '[]')) = 0
      and jsonb_array_length(coalesce(f.payload->'roms_ids', '[]')) = 0
      and jsonb_array_length(coalesce(f.payload->'library_ids', '[]')) = 0)`

export async function readUnfinished (
  db: Db, { begun_at: startedAt }: Pick<TaskRun, 'begun_at'>
): Promise<UnfinishedRoms> {
  const { rows: [oldest] } = await db.query<{ begun_at: Date | null }>(OLDEST)
  const since = oldest?.begun_at ?? startedAt
  return { startedAt, since: since < startedAt ? since : startedAt }
}
