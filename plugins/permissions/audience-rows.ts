import type { GrantEntity } from '../../core/access/grants.ts'
import type { Db } from '../../core/database/db.ts'

/** True if the grants of a user, or of a guest by the default group, allow to read an entity. */
const mayRead = (entity: GrantEntity, userId: string, groupId: string) => `coalesce(
    (select o.granted and not o.own_only from permission_overrides o
      where o.user_id = ${userId} and o.entity = '${entity}' and o.action = 'read'),
    exists (select 1 from permission_grants p
      where p.group_id = ${groupId} and p.entity = '${entity}' and p.action = 'read' and not p.own_only))`

/** True if the grants of a group or user may keep somebody from reading an entity. */
const keepsFromReading = (entity: GrantEntity) => `(exists (select 1 from permission_groups g where not exists (
      select 1 from permission_grants p where p.group_id = g.id and p.entity = '${entity}' and p.action = 'read' and not p.own_only))
    or exists (select 1 from permission_overrides o
      where o.entity = '${entity}' and o.action = 'read' and (o.own_only or not o.granted)))`

/**
 * ROMs that are hidden from some users, with the users who may see them. Administrators always may. User 0 is any
 * guest, who sees the same as the default group. With `$2` users without the grant to read ROMs do not count.
 */
const LIMITED = `with rules as (
    select u.id as user_id, u.role, g.id as group_id,
      coalesce(u.age_limit, case when g.id is null then 0 else g.age_limit end) as age_limit,
      coalesce(u.hide_unrated_roms, g.hide_unrated_roms, true) as hides_unrated, ${mayRead('roms', 'u.id', 'g.id')} as reads
    from users u left join permission_groups g
      on g.id = coalesce(u.permission_group_id, (select id from permission_groups where is_default))
    where u.enabled
    union all select 0, 'user', d.id, d.age_limit, d.hide_unrated_roms, ${mayRead('roms', '0', 'd.id')}
    from permission_groups d where d.is_default
  ), sight as (
    select r.id as rom_id, s.user_id, s.role = 'admin' or (
      (s.reads or not $2::boolean)
      and (s.age_limit is null or coalesce(r.min_age <= s.age_limit, true))
      and (not s.hides_unrated or r.min_age is not null)
      and not exists (select 1 from hidden_entities h where (h.user_id = s.user_id or h.group_id = s.group_id)
        and ((h.entity = 'roms' and h.entity_id = r.id) or (h.entity = 'platforms' and h.entity_id = r.platform_id)))
    ) as sees
    from roms r cross join rules s where r.id = any($1::int[])
  )
  select rom_id, coalesce(array_agg(user_id) filter (where sees and user_id > 0), '{}') as user_ids from sight
  group by rom_id having not bool_and(sees)`

const HIDES_ANYTHING = `select exists (select 1 from hidden_entities) or exists (select 1 from permission_groups
    where age_limit is not null or hide_unrated_roms)
  or exists (select 1 from users where age_limit is not null or hide_unrated_roms)
  or ($1::boolean and ${keepsFromReading('roms')}) as hides`

/**
 * Lists the users who may see each of these ROMs. Skips ROMs that everybody may see, including guests.
 *
 * @param readsOnly true to leave out users without the grant to read ROMs, for events with data of ROMs
 */
export async function listAudiences (
  db: Db, romIds: readonly number[], readsOnly = false
): Promise<Map<number, number[]>> {
  const { rows: [any] } = await db.query<{ hides: boolean }>(HIDES_ANYTHING, [readsOnly])
  if (any?.hides !== true) return new Map()
  const { rows } = await db.query<{ rom_id: number, user_ids: number[] }>(LIMITED, [romIds, readsOnly])
  return new Map(rows.map((row) => [row.rom_id, row.user_ids]))
}

const LIMITED_PLATFORM = `select exists (select 1 from hidden_entities where entity = 'platforms' and entity_id = $1)
    or ${keepsFromReading('platforms')} as hides,
  array(select u.id from users u left join permission_groups g
      on g.id = coalesce(u.permission_group_id, (select id from permission_groups where is_default))
    where u.enabled and (u.role = 'admin' or ${mayRead('platforms', 'u.id', 'g.id')} and not exists (
      select 1 from hidden_entities h where h.entity = 'platforms' and h.entity_id = $1
        and (h.user_id = u.id or h.group_id = g.id)))) as user_ids`

/** Lists the users who may read platforms and see this one; null for everybody. */
export async function findPlatformAudience (db: Db, platformId: number): Promise<number[] | null> {
  const { rows: [row] } = await db.query<{ hides: boolean, user_ids: number[] }>(LIMITED_PLATFORM, [platformId])
  return row === undefined || !row.hides ? null : row.user_ids
}

const READERS = (entity: GrantEntity) => `select ${keepsFromReading(entity)} as hides,
  array(select u.id from users u left join permission_groups g
      on g.id = coalesce(u.permission_group_id, (select id from permission_groups where is_default))
    where u.enabled and (u.role = 'admin' or ${mayRead(entity, 'u.id', 'g.id')})) as user_ids`

/** Lists the users whose grants allow to read what others made public; null for everybody. */
export async function findReaders (db: Db, entity: GrantEntity): Promise<number[] | null> {
  const { rows: [row] } = await db.query<{ hides: boolean, user_ids: number[] }>(READERS(entity))
  return row === undefined || !row.hides ? null : row.user_ids
}
