import { sql } from 'kysely'
import type { Context } from '../../../core/access/context.ts'
import type { Condition } from '../../../core/database/conditions.ts'
import type { Db } from '../../../core/database/db.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { Criteria } from './criteria.ts'
import { markedRoms } from '../rows.ts'
import { isCollectionVisible } from '../visibility.ts'

/** Loads the filter of a smart collection; null if the caller does not see the collection. */
export async function selectCriteria ({ db, caller }: Context<AnyCaller>, id: number): Promise<Criteria | null> {
  const { rows } = await sql<{ filter_criteria: Criteria }>`select c.filter_criteria from smart_collections c
    where c.id = ${id} and ${isCollectionVisible(caller)}`.execute(db)
  return rows[0]?.filter_criteria ?? null
}

/** A question about one ROM: does it meet a condition, with the marks of one user? */
export interface Membership { key: number, userId: number | null, condition: Condition }

/** Loads the keys of the memberships that hold for a ROM, in one query. */
export async function selectMemberships (
  db: Db, romId: number, memberships: readonly Membership[]
): Promise<Set<number>> {
  if (memberships.length === 0) return new Set()
  const parts = memberships.map(({ key, userId, condition }) => sql`select ${key}::int as key
    from ${markedRoms(userId)} where r.id = ${romId} and ${condition}`)
  const { rows } = await sql<{ key: number }>`${sql.join(parts, sql` union all `)}`.execute(db)
  return new Set(rows.map((row) => row.key))
}
