import { Migration } from '@mikro-orm/migrations'

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

/** Tables of permissions, devices and sign-in. */
export class Migration20261121200000 extends Migration {
  override up (): void {
    this.addPermissions()
    this.addDevices()
    this.addSignIn()
  }

  private addPermissions (): void {
    this.addSql(`create table "permission_groups" (
      "id" serial primary key,
      "name" text not null,
      "description" text not null default '',
      "is_default" boolean not null default false,
      "is_system" boolean not null default false,
      "color" text null,
      "age_limit" int null,
      "hide_unrated_roms" boolean not null default false,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql('alter table "permission_groups" add constraint "permission_groups_name_unique" unique ("name")')
    this.addSql('create unique index "permission_groups_default_unique" on "permission_groups" ("is_default") where "is_default"')
    this.addSql(`create table "permission_grants" (
      "group_id" int not null,
      "entity" text not null,
      "action" text not null,
      "own_only" boolean not null default false, primary key ("group_id", "entity", "action"))`)
    this.addSql(`create table "permission_overrides" (
      "user_id" int not null,
      "entity" text not null,
      "action" text not null,
      "granted" boolean not null,
      "own_only" boolean not null default false, primary key ("user_id", "entity", "action"))`)
    this.addSql(`create table "hidden_entities" (
      "id" serial primary key,
      "entity" text not null,
      "entity_id" int not null,
      "user_id" int null,
      "group_id" int null)`)
    this.addSql('create unique index "hidden_entities_entity_entity_id_user_id_group_id_unique" on "hidden_entities" ("entity", "entity_id", "user_id", "group_id") nulls not distinct')
    this.addSql('create index "hidden_entities_user_id_index" on "hidden_entities" ("user_id")')
    this.addSql('create index "hidden_entities_group_id_index" on "hidden_entities" ("group_id")')
    this.addSql('alter table "users" add column "permission_group_id" int null, add column "age_limit" int null, add column "hide_unrated_roms" boolean null, add column "ra_progression" jsonb null, add column "oidc_issuer" text null, add column "oidc_subject" text null')
    this.addSql('alter table "users" add constraint "users_oidc_issuer_oidc_subject_unique" unique ("oidc_issuer", "oidc_subject")')
    this.addSql('alter table "roms" add column "min_age" int null')
    this.addSql('alter table "users" add constraint "users_permission_group_id_foreign" foreign key ("permission_group_id") references "permission_groups" ("id") on delete set null')
    this.addSql('alter table "permission_grants" add constraint "permission_grants_group_id_foreign" foreign key ("group_id") references "permission_groups" ("id") on delete cascade')
    this.addSql('alter table "permission_overrides" add constraint "permission_overrides_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "hidden_entities" add constraint "hidden_entities_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "hidden_entities" add constraint "hidden_entities_group_id_foreign" foreign key ("group_id") references "permission_groups" ("id") on delete cascade')
    FIRST_GROUPS.forEach((sql) => { this.addSql(sql) })
  }

  private addDevices (): void {
    this.addSql(`create table "devices" (
      "id" serial primary key,
      "device_id" uuid not null default gen_random_uuid(),
      "user_id" int not null,
      "name" text null,
      "platform" text null,
      "hostname" text null,
      "mac_address" text null,
      "ip_address" text null,
      "client" text null,
      "client_version" text null,
      "client_device_identifier" text null,
      "sync_mode" text not null default 'push_pull',
      "sync_enabled" boolean not null default true,
      "sync_config" jsonb null,
      "paths" jsonb null,
      "capabilities" jsonb null,
      "last_seen" timestamptz(3) null,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql('alter table "devices" add constraint "devices_device_id_unique" unique ("device_id")')
    this.addSql('create index "devices_user_id_index" on "devices" ("user_id")')
    this.addSql('alter table "devices" add constraint "devices_user_id_client_device_identifier_unique" unique ("user_id", "client_device_identifier")')
    this.addSql('alter table "devices" add constraint "devices_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "sessions" add column "device_id" int null, add column "id_token" text null')
    this.addSql('alter table "sessions" add constraint "sessions_device_id_foreign" foreign key ("device_id") references "devices" ("id") on delete set null')
    this.addSql('alter table "client_tokens" add column "device_id" int null')
    this.addSql('create index "client_tokens_device_id_index" on "client_tokens" ("device_id")')
    this.addSql('alter table "client_tokens" add constraint "client_tokens_device_id_foreign" foreign key ("device_id") references "devices" ("id") on delete set null')
  }

  private addSignIn (): void {
    this.addSql(`create table "one_time_tokens" (
      "token_hash" text not null,
      "purpose" text not null,
      "user_id" int null,
      "data" jsonb not null default '{}'::jsonb,
      "expires_at" timestamptz(3) not null,
      "created_at" timestamptz(3) not null default now(), primary key ("token_hash"))`)
    this.addSql('create index "one_time_tokens_user_id_index" on "one_time_tokens" ("user_id")')
    this.addSql('alter table "one_time_tokens" add constraint "one_time_tokens_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql(`create table "throttles" (
      "key" text not null,
      "count" int not null default 0,
      "blocked_until" timestamptz(3) null,
      "updated_at" timestamptz(3) not null default now(), primary key ("key"))`)
    this.addSql(`create table "pairing_codes" (
      "code_hash" text not null,
      "token_id" int not null,
      "expires_at" timestamptz(3) not null, primary key ("code_hash"))`)
    this.addSql('create index "pairing_codes_token_id_index" on "pairing_codes" ("token_id")')
    this.addSql('alter table "pairing_codes" add constraint "pairing_codes_token_id_foreign" foreign key ("token_id") references "client_tokens" ("id") on delete cascade')
    this.addSql(`create table "device_authorizations" (
      "id" serial primary key,
      "device_code_hash" text not null,
      "user_code_hash" text null,
      "status" text not null default 'pending',
      "request" jsonb not null,
      "sealed_token" text null,
      "token_id" int null,
      "polled_at" timestamptz(3) null,
      "expires_at" timestamptz(3) not null,
      "created_at" timestamptz(3) not null default now())`)
    this.addSql('alter table "device_authorizations" add constraint "device_authorizations_device_code_hash_unique" unique ("device_code_hash")')
    this.addSql('alter table "device_authorizations" add constraint "device_authorizations_user_code_hash_unique" unique ("user_code_hash")')
    this.addSql('alter table "device_authorizations" add constraint "device_authorizations_status_check" check ("status" in (\'pending\', \'approved\', \'denied\'))')
    this.addSql('alter table "device_authorizations" add constraint "device_authorizations_token_id_foreign" foreign key ("token_id") references "client_tokens" ("id") on delete cascade')
    this.addSql(`create table "audit_events" (
      "id" serial primary key,
      "event" text not null,
      "user_id" int null,
      "username" text not null default '',
      "address" text not null default '',
      "details" jsonb not null default '{}'::jsonb,
      "created_at" timestamptz(3) not null default now())`)
    this.addSql('create index "audit_events_created_at_index" on "audit_events" ("created_at")')
  }
}
