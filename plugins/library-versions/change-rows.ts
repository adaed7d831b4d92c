import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'
import type { Db } from '../../core/database/db.ts'
import type { LongReads } from '../library/long-reads.ts'

/** Rows of the log are deleted after this time. */
const LOG_HOURS = 24

/** The age in milliseconds up to which the log has all changes since a snapshot, with much time to spare. */
export const SNAPSHOT_AGE_MAX_MS = LOG_HOURS / 2 * 3_600_000

/** Runs work in a transaction in which all statements see the same snapshot. */
export const inSnapshot = async <T>(reads: LongReads, work: (tx: LongReads) => Promise<T>): Promise<T> =>
  await reads.transaction().setIsolationLevel('repeatable read').execute(work)

/** The rows of the log that a statement sees and that are missing in one of some earlier snapshots. */
const rowsSince = (snapshots: readonly string[]): RawBuilder<unknown> => sql`rom_changes
    where xid >= (select min(pg_snapshot_xmin(s::pg_snapshot)::text::bigint) from unnest(${snapshots}::text[]) s)
      and xid < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
      and exists (select from unnest(${snapshots}::text[]) s where not pg_visible_in_snapshot(xid::text::xid8, s::pg_snapshot))`

/** ROMs that changed, and identities that ROMs lost, as `<provider>:<id>`. */
export interface RomChanges { ids: Set<number>, games: Set<string> }

/**
 * Loads the changes that a transaction sees and that are missing in one of some earlier snapshots; null if they are too
 * many.
 *
 * @param tx a transaction with one snapshot
 */
export async function selectChanges (tx: LongReads, snapshots: readonly string[]): Promise<RomChanges | null> {
  const { rows } = await sql<{ rom_ids: number[] | null, games: string[] }>`
    select rom_ids, games from ${rowsSince(snapshots)}`.execute(tx)
  const changes: RomChanges = { ids: new Set(), games: new Set() }
  for (const { rom_ids: ids, games } of rows) {
    if (ids === null) return null
    for (const id of ids) changes.ids.add(id)
    for (const game of games) changes.games.add(game)
  }
  return changes
}

/** Changed ROMs, null for too many, and the snapshot that contains these changes. */
export interface ChangesAtSnapshot { ids: number[] | null, snapshot: string }

/** Loads the ROMs that changed since a snapshot in one statement, and the snapshot of this statement. */
export async function selectChangedIds (db: QueryExecutorProvider, since: string): Promise<ChangesAtSnapshot> {
  const { rows: [row] } = await sql<{ snapshot: string, changes: (number[] | null)[] }>`
    select pg_current_snapshot()::text as snapshot,
      coalesce((select json_agg(rom_ids) from ${rowsSince([since])}), '[]') as changes`.execute(db)
  if (row === undefined) throw new Error('The database returned no snapshot')
  const { snapshot, changes } = row
  return { ids: changes.includes(null) ? null : changes.flatMap((ids) => ids ?? []), snapshot }
}

/** The current snapshot of the database, as text that later transactions compare with theirs. */
export async function selectSnapshot (tx: QueryExecutorProvider): Promise<string> {
  const { rows: [row] } = await sql<{ snapshot: string }>`select pg_current_snapshot()::text as snapshot`.execute(tx)
  if (row === undefined) throw new Error('The database returned no snapshot')
  return row.snapshot
}

/** Deletes old rows of the log. */
export async function pruneChanges (db: Db): Promise<void> {
  await db.query('delete from rom_changes where created_at < now() - make_interval(hours => $1)', [LOG_HOURS])
}
