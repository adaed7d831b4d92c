import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../core/database/db.ts'

/**
 * A kind of change: to the library by people, or by scans; to assets or collections of any user; to the ROMs that a
 * user sees; to any mark of a user.
 */
export type VersionKind = 'edits' | 'scans' | 'assets' | 'collections' | 'shown' | 'marks'

/** The change counters at one moment. Data that is read later is at least as new. */
export interface VersionSnapshot {
  versions: ReadonlyMap<VersionKind, number>
  /** Time by the clock of `performance.now`. */
  at: number
}

export interface VersionRow { kind: VersionKind, version: number }

/** Selects the change counters. @param userId the user whose marks matter; null for none */
export const versionsOf = (userId: number | null): RawBuilder<VersionRow> => sql<VersionRow>`
    select kind, sum(version)::float8 as version from library_versions where user_id = any(${[0, userId ?? 0]}::int[])
    group by kind`

/** @param at a time before the rows were read */
export const toVersionSnapshot = (rows: readonly VersionRow[], at: number): VersionSnapshot =>
  ({ versions: new Map(rows.map((row) => [row.kind, row.version])), at })

/** @param userId the user whose marks matter; null for none */
export async function selectVersions (db: Db, userId: number | null): Promise<VersionSnapshot> {
  const at = performance.now()
  return toVersionSnapshot((await versionsOf(userId).execute(db)).rows, at)
}

/** Counts the latest writes of the scan worker as changes by a person. */
export async function countEdit (db: Db): Promise<void> {
  await db.query("select move_library_version('edits', 0)")
}
