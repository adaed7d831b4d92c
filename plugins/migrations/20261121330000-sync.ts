import { Migration } from '@mikro-orm/migrations'

/** Tables of the files that each device received, and of the sync sessions. */
export class Migration20261121330000 extends Migration {
  override up (): void {
    this.addSql(`create table "sync_sessions" (
      "id" serial primary key,
      "session_id" uuid not null default gen_random_uuid(),
      "user_id" int not null,
      "device_id" int not null,
      "status" text not null default 'IN_PROGRESS',
      "operations_planned" int not null default 0,
      "operations_completed" int not null default 0,
      "operations_failed" int not null default 0,
      "error_message" text null,
      "downloads" jsonb not null default '[]'::jsonb,
      "completed_with" text null,
      "completed_answer" jsonb null,
      "initiated_at" timestamptz(3) not null default now(),
      "completed_at" timestamptz(3) null,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql('alter table "sync_sessions" add constraint "sync_sessions_session_id_unique" unique ("session_id")')
    this.addSql('create index "sync_sessions_device_id_index" on "sync_sessions" ("device_id")')
    this.addSql('create index "sync_sessions_user_id_id_index" on "sync_sessions" ("user_id", "id")')
    this.addSql('create index "sync_sessions_status_initiated_at_index" on "sync_sessions" ("status", "initiated_at")')
    this.addSql('alter table "sync_sessions" add constraint "sync_sessions_status_check" check ("status" in (\'PENDING\', \'IN_PROGRESS\', \'COMPLETED\', \'FAILED\', \'CANCELLED\'))')
    this.addSql(`create table "device_syncs" (
      "device_id" int not null,
      "asset_id" int not null,
      "last_synced_at" timestamptz(3) not null,
      "is_untracked" boolean not null default false,
      primary key ("device_id", "asset_id"))`)
    this.addSql('create index "device_syncs_asset_id_index" on "device_syncs" ("asset_id")')
    this.addSql(`create table "sync_bases" (
      "device_id" int not null,
      "rom_id" int not null,
      "kind" text not null,
      "key" text not null,
      "sha1" text not null,
      "content_hash" text null,
      "updated_at" timestamptz(3) not null default now(),
      primary key ("device_id", "rom_id", "kind", "key"))`)
    this.addSql('create index "sync_bases_rom_id_index" on "sync_bases" ("rom_id")')
    this.addSql('alter table "sync_bases" add constraint "sync_bases_kind_check" check ("kind" in (\'save\', \'state\', \'screenshot\'))')
    this.addSql('alter table "sync_sessions" add constraint "sync_sessions_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "sync_sessions" add constraint "sync_sessions_device_id_foreign" foreign key ("device_id") references "devices" ("id") on delete cascade')
    this.addSql('alter table "device_syncs" add constraint "device_syncs_device_id_foreign" foreign key ("device_id") references "devices" ("id") on update cascade on delete cascade')
    this.addSql('alter table "device_syncs" add constraint "device_syncs_asset_id_foreign" foreign key ("asset_id") references "assets" ("id") on update cascade on delete cascade')
    this.addSql('alter table "sync_bases" add constraint "sync_bases_device_id_foreign" foreign key ("device_id") references "devices" ("id") on delete cascade')
    this.addSql('alter table "sync_bases" add constraint "sync_bases_rom_id_foreign" foreign key ("rom_id") references "roms" ("id") on delete cascade')
  }
}
