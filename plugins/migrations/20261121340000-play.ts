import { Migration } from '@mikro-orm/migrations'

/** Tables of play sessions and of current players. */
export class Migration20261121340000 extends Migration {
  override up (): void {
    this.addSql(`create table "play_sessions" (
      "id" serial primary key,
      "user_id" int not null,
      "device_id" int null,
      "rom_id" int null,
      "sync_session_id" int null,
      "identity" text not null,
      "save_slot" text null,
      "start_time" timestamptz(3) not null,
      "end_time" timestamptz(3) not null,
      "duration_ms" bigint not null default '0',
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql('create index "play_sessions_device_id_index" on "play_sessions" ("device_id")')
    this.addSql('create index "play_sessions_sync_session_id_index" on "play_sessions" ("sync_session_id")')
    this.addSql('create index "play_sessions_user_id_start_time_index" on "play_sessions" ("user_id", "start_time")')
    this.addSql('create index "play_sessions_rom_id_user_id_index" on "play_sessions" ("rom_id", "user_id")')
    this.addSql('alter table "play_sessions" add constraint "play_sessions_user_id_identity_unique" unique ("user_id", "identity")')
    this.addSql(`create table "activity_entries" (
      "user_id" int not null,
      "device_id" int not null,
      "rom_id" int not null,
      "socket_id" text null,
      "started_at" timestamptz(3) not null default now(),
      "expires_at" timestamptz(3) not null,
      primary key ("user_id", "device_id"))`)
    this.addSql('create index "activity_entries_device_id_index" on "activity_entries" ("device_id")')
    this.addSql('create index "activity_entries_rom_id_index" on "activity_entries" ("rom_id")')
    this.addSql('alter table "play_sessions" add constraint "play_sessions_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "play_sessions" add constraint "play_sessions_device_id_foreign" foreign key ("device_id") references "devices" ("id") on delete set null')
    this.addSql('alter table "play_sessions" add constraint "play_sessions_rom_id_foreign" foreign key ("rom_id") references "roms" ("id") on delete set null')
    this.addSql('alter table "play_sessions" add constraint "play_sessions_sync_session_id_foreign" foreign key ("sync_session_id") references "sync_sessions" ("id") on delete set null')
    this.addSql('alter table "activity_entries" add constraint "activity_entries_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade')
    this.addSql('alter table "activity_entries" add constraint "activity_entries_device_id_foreign" foreign key ("device_id") references "devices" ("id") on update cascade on delete cascade')
    this.addSql('alter table "activity_entries" add constraint "activity_entries_rom_id_foreign" foreign key ("rom_id") references "roms" ("id") on delete cascade')
  }
}
