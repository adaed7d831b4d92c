const LIBRARY = ['roms', 'platforms', 'firmware']
const OWN = ['collections', 'playlists', 'assets', 'devices']

/** Returns the grants of members: read everything, write and delete their own objects. */
const memberGrants = () => [
  ...[...LIBRARY, 'collections', 'playlists', 'assets'].map((entity) => [entity, 'read', false]),
  ['devices', 'read', true],
  ...OWN.flatMap((entity) => [[entity, 'write', true], [entity, 'delete', true]])
]
const editorGrants = () => [
  ...memberGrants(), ...LIBRARY.flatMap((entity) => [[entity, 'write', false], [entity, 'delete', false]])
]

function insertGroup (name: string, description: string, isDefault: boolean, grants: unknown[][]): string {
  const rows = grants.map(([entity, action, ownOnly]) => `('${String(entity)}', '${String(action)}', ${String(ownOnly)})`)
  return `with added as (insert into permission_groups (name, description, is_default, is_system)
      values ('${name}', '${description}', ${isDefault}, true) returning id)
    insert into permission_grants (group_id, entity, action, own_only)
    select added.id, g.entity, g.action, g.own_only from added, (values ${rows.join(', ')}) as g(entity, action, own_only)`
}

/** The groups of every new database. */
export const FIRST_GROUPS = [
  insertGroup('Members', 'Read the library, write what is their own', true, memberGrants()),
  insertGroup('Editors', 'Members who may also change the library', false, editorGrants())
]

const KEEP_DEFAULT_GROUP = `create function keep_default_group() returns trigger language plpgsql as $$ begin
  if not exists (select 1 from permission_groups where is_default) then
    raise exception 'one permission group must be the default one'
      using errcode = 'check_violation', constraint = 'permission_groups_default_kept';
  end if;
  return null;
end $$`

const ANNOUNCE = `create function announce_callers () returns trigger language plpgsql as $$ begin
  perform pg_notify('svc_callers', '');
  return null;
end $$`
const ANY = 'insert or update or delete'
const CHANGES = {
  users: 'delete or update of username, role, enabled, password_hash, permission_group_id, age_limit, hide_unrated_roms',
  sessions: 'delete or update of user_id, device_id, token_hash, expires_at',
  client_tokens: 'delete or update of user_id, device_id, token_hash, scopes, expires_at',
  permission_groups: ANY,
  permission_grants: ANY,
  permission_overrides: ANY
}

/**
 * The first groups, a trigger that ensures a default group, and triggers that invalidate cached callers in all
 * processes after a change of their permissions.
 */
export const permissions = [
  ...FIRST_GROUPS,
  KEEP_DEFAULT_GROUP,
  // The check runs at the end of a transaction, because no group is the default between two changes of it.
  `create constraint trigger permission_groups_default_kept
    after delete or update of is_default on permission_groups deferrable initially deferred
    for each row when (old.is_default) execute function keep_default_group()`,
  ANNOUNCE,
  ...Object.entries(CHANGES).map(([table, changes]) =>
    `create trigger announce_callers after ${changes} on ${table} for each statement execute function announce_callers()`)
]
