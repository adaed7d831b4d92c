import { Migration } from '@mikro-orm/migrations'

const ANNOUNCE = `create function announce_callers () returns trigger language plpgsql as $$ begin
  perform pg_notify('svc_callers', '');
  return null;
end $$`
const ANY = 'insert or update or delete'
const CHANGES = {
  users: 'delete or update of "username", "role", "enabled", "password_hash", "permission_group_id", "age_limit", "hide_unrated_roms"',
  client_tokens: 'delete or update of "user_id", "device_id", "token_hash", "scopes", "expires_at"',
  permission_groups: ANY,
  permission_grants: ANY,
  permission_overrides: ANY
}

/** Invalidates cached callers in all processes after a change of their permissions. */
export class Migration20261122112000 extends Migration {
  override up (): void {
    this.addSql(ANNOUNCE)
    for (const [table, changes] of Object.entries(CHANGES)) {
      this.addSql(`create trigger "announce_callers" after ${changes} on "${table}" for each statement execute function announce_callers()`)
    }
  }
}
