import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { Condition } from '../list-conditions.ts'
import type { Criteria } from './criteria.ts'
import { markedRoms } from '../rows.ts'
import { isCollectionVisible } from '../visibility.ts'

/** Loads the filter of a smart collection; null if the caller does not see the collection. */
export async function selectCriteria (em: EntityManager, caller: AnyCaller, id: number): Promise<Criteria | null> {
  const { rows } = await sql<{ filter_criteria: Criteria }>`select c.filter_criteria from smart_collections c
    where c.id = ${id} and ${isCollectionVisible(caller)}`.execute(em.getKysely())
  return rows[0]?.filter_criteria ?? null
}

/** A question about one ROM: does it meet a condition, with the marks of one user? */
export interface Membership { key: number, userId: number | null, condition: Condition }

/** Loads the keys of the memberships that hold for a ROM, in one query. */
export async function selectMemberships (
  em: EntityManager, romId: number, memberships: readonly Membership[]
): Promise<Set<number>> {
  if (memberships.length === 0) return new Set()
  const parts = memberships.map(({ key, userId, condition }) => sql`select ${key}::int as key
    from ${markedRoms(userId)} where r.id = ${romId} and ${condition}`)
  const { rows } = await sql<{ key: number }>`${sql.join(parts, sql` union all `)}`.execute(em.getKysely())
  return new Set(rows.map((row) => row.key))
}
