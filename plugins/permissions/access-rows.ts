import { ADMIN_ACCESS, type Access, type Grant } from '../../core/access/grants.ts'
import type { Db } from '../../core/database/db.ts'

interface Override extends Grant { granted: boolean }

interface AccessRow {
  user_id: number
  role: 'admin' | 'user'
  group_id: number | null
  age_limit: number | null
  hide_unrated_roms: boolean
  grants: Grant[]
  overrides: Override[]
}

const GRANTS = `coalesce((select jsonb_agg(jsonb_build_object('entity', entity, 'action', action, 'own_only', own_only))
  from permission_grants where group_id = g.id), '[]')`

/** An account to which no group's rules apply sees as little as possible. */
const OF_USERS = `select u.id as user_id, u.role, g.id as group_id,
    coalesce(u.age_limit, case when g.id is null then 0 else g.age_limit end) as age_limit,
    coalesce(u.hide_unrated_roms, g.hide_unrated_roms, true) as hide_unrated_roms, ${GRANTS} as grants,
    coalesce((select jsonb_agg(jsonb_build_object('entity', entity, 'action', action, 'own_only', own_only,
      'granted', granted)) from permission_overrides where user_id = u.id), '[]') as overrides
  from users u left join permission_groups g
    on g.id = coalesce(u.permission_group_id, (select id from permission_groups where is_default))
  where u.id = any($1::int[])`

const OF_DEFAULT_GROUP = `select 0 as user_id, 'user' as role, g.id as group_id, g.age_limit, g.hide_unrated_roms,
  ${GRANTS} as grants, '[]'::jsonb as overrides from permission_groups g where g.is_default`

/** The access of a deleted account, or of guests to whom no group's rules apply. */
export const NO_ACCESS: Access = { is_admin: false, group_id: null, grants: [], age_limit: 0, hide_unrated_roms: true }

/** Applies the overrides. Each replaces or removes the group's grant for the same entity and action. */
function toGrants ({ grants, overrides }: AccessRow): Grant[] {
  const keyOf = ({ entity, action }: Grant) => `${entity}.${action}`
  const effective = new Map(grants.map((grant) => [keyOf(grant), grant]))
  for (const { granted, ...grant } of overrides) {
    if (granted) effective.set(keyOf(grant), grant)
    else effective.delete(keyOf(grant))
  }
  return [...effective.values()]
}

function toAccess (row: AccessRow): Access {
  if (row.role === 'admin') return ADMIN_ACCESS
  const { group_id: groupId, age_limit: ageLimit, hide_unrated_roms: hidesUnrated } = row
  return {
    is_admin: false, group_id: groupId, grants: toGrants(row), age_limit: ageLimit, hide_unrated_roms: hidesUnrated
  }
}

/** Loads the access of accounts, by user id. */
export async function loadAccess (db: Db, userIds: readonly number[]): Promise<Map<number, Access>> {
  const { rows } = await db.query<AccessRow>(OF_USERS, [userIds])
  return new Map(rows.map((row) => [row.user_id, toAccess(row)]))
}

/** Loads the access of a guest, where guests are allowed at all. */
export async function loadGuestAccess (db: Db): Promise<Access> {
  const { rows: [row] } = await db.query<AccessRow>(OF_DEFAULT_GROUP)
  if (row === undefined) return NO_ACCESS
  const access = toAccess(row)
  return { ...access, grants: access.grants.filter((grant) => grant.action === 'read') }
}
