import type { Db } from '../../core/database/db.ts'
import { insertRows } from '../../core/database/insert-rows.ts'
import { toDatabaseJson } from '../../core/database/json.ts'
import type { Grant } from '../../core/access/grants.ts'

const GROUPS = {
  name: 'permission_groups', columns: { name: 'text', description: 'text', color: 'text' }
} as const
const HIDDEN = {
  name: 'hidden_entities', columns: { entity: 'text', entity_id: 'int', user_id: 'int', group_id: 'int' }
} as const

/** Inserts a group with its grants. @returns null if the name is taken */
export async function insertImportedGroup (
  tx: Db, group: { name: string, description: string, color: string | null }, grants: readonly Grant[]
): Promise<number | null> {
  const [id = null] = await insertRows(tx, GROUPS, [group])
  if (id === null) return null
  await tx.query(`insert into permission_grants (group_id, entity, action, own_only)
    select $1, g.entity, g.action, g.own_only from jsonb_to_recordset($2::jsonb) as g(entity text, action text, own_only boolean)
    on conflict do nothing`, [id, toDatabaseJson(grants)])
  return id
}

/** Finds a group by its name, with its grants. */
export async function findGroup (db: Db, name: string): Promise<{ id: number, grants: Grant[] } | null> {
  const { rows } = await db.query<{ id: number, grants: Grant[] }>(`select g.id, coalesce((select jsonb_agg(jsonb_build_object(
      'entity', p.entity, 'action', p.action, 'own_only', p.own_only)) from permission_grants p where p.group_id = g.id), '[]') as grants
    from permission_groups g where g.name = $1`, [name])
  return rows[0] ?? null
}

/** Inserts grants and refusals of one user. */
export async function insertImportedOverrides (
  tx: Db, userId: number, overrides: readonly (Grant & { granted: boolean })[]
): Promise<void> {
  await tx.query(`insert into permission_overrides (user_id, entity, action, granted, own_only)
    select $1, g.entity, g.action, g.granted, g.own_only
    from jsonb_to_recordset($2::jsonb) as g(entity text, action text, granted boolean, own_only boolean)
    on conflict do nothing`, [userId, toDatabaseJson(overrides)])
}

export interface ImportedHidden { entity: 'platforms' | 'roms', entity_id: number, user_id: number | null, group_id: number | null }

/** Hides objects from users and groups. @returns null for each that is hidden already */
export const insertImportedHidden = (tx: Db, rows: readonly ImportedHidden[]): Promise<(number | null)[]> =>
  insertRows(tx, HIDDEN, rows)
