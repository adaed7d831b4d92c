import { Migration } from '@mikro-orm/migrations'

/** Running streaming sessions, and the notices for players whose session somebody else ended. */
export class Migration20261122180200 extends Migration {
  override up (): void {
    this.addSql(`create table "streaming_sessions" (
      "container" text not null primary key,
      "claim" uuid not null,
      "user_id" int not null,
      "device_id" int null,
      "platform" text not null,
      "rom_id" int null,
      "rom_name" text null,
      "state" text not null,
      "phase" text null,
      "multiplayer" boolean not null default false,
      "claimed_at" timestamptz(3) not null default now(),
      "started_at" timestamptz(3) null,
      "seen_at" timestamptz(3) not null default now(),
      "beats" boolean not null default false,
      "expires_at" timestamptz(3) not null,
      constraint "streaming_sessions_state_check" check ("state" in ('launching', 'active', 'draining')))`)
    this.addSql('create index "streaming_sessions_user_id_platform_index" on "streaming_sessions" ("user_id", "platform")')
    this.addSql('create index "streaming_sessions_device_id_index" on "streaming_sessions" ("device_id")')
    this.addSql('alter table "streaming_sessions" add constraint "streaming_sessions_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "streaming_sessions" add constraint "streaming_sessions_device_id_foreign" foreign key ("device_id") references "devices" ("id") on delete set null')
    this.addSql(`create table "streaming_endings" (
      "user_id" int not null,
      "platform" text not null,
      "termination" jsonb not null,
      primary key ("user_id", "platform"))`)
    this.addSql('alter table "streaming_endings" add constraint "streaming_endings_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
  }
}
