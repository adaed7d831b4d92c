import type { Db } from '../../core/database/db.ts'
import type { HIDEABLE_ENTITIES } from './entities.ts'

interface MemberCount { group_id: number, count: number }

/** Counts the users in each group. */
export async function countMembers (db: Db): Promise<Map<number, number>> {
  const rows = (await db.query<MemberCount>(`select permission_group_id as group_id, count(*)::int as count
    from users where permission_group_id is not null group by permission_group_id`)).rows
  return new Map(rows.map((row) => [row.group_id, row.count]))
}

/** Locks groups until the transaction ends, so that nobody else changes them. */
export async function lockGroups (tx: Db): Promise<void> {
  await tx.query('lock table permission_groups in share row exclusive mode')
}

/** Hides an object. Repeating it has no effect. */
export async function insertHidden (
  db: Db, object: { entity: typeof HIDEABLE_ENTITIES[number], entity_id: number },
  principal: { user: number | null, group: number | null }
): Promise<void> {
  await db.query(`insert into hidden_entities (entity, entity_id, user_id, group_id) values ($1, $2, $3, $4)
    on conflict do nothing`, [object.entity, object.entity_id, principal.user, principal.group])
}
