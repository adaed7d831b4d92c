import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'

/**
 * What changed: the library by people, or by scans; somebody's assets or collections; which ROMs a user sees; any mark
 * of a user.
 */
export type VersionKind = 'edits' | 'scans' | 'assets' | 'collections' | 'shown' | 'marks'

/** How often everything changed before this moment. What is read later is at least as new. */
export interface Moment {
  versions: ReadonlyMap<VersionKind, number>
  /** By the clock of `performance.now`. */
  at: number
}

/** @param userId whose marks matter; null for nobody's */
export async function selectMoment (em: EntityManager, userId: number | null): Promise<Moment> {
  const at = performance.now()
  const { rows } = await sql<{ kind: VersionKind, version: number }>`
    select kind, sum(version)::float8 as version from library_versions where user_id = any(${[0, userId ?? 0]}::int[])
    group by kind`.execute(em.getKysely())
  return { versions: new Map(rows.map((row) => [row.kind, row.version])), at }
}

/** Has what the scan worker just wrote count as what a person did. */
export async function noteEdit (em: EntityManager): Promise<void> {
  await em.execute("select move_library_version('edits', 0)")
}
