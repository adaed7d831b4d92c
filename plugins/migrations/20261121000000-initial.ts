import { Migration } from '@mikro-orm/migrations'

/** The tables of the library, its users and its tasks. */
export class Migration20261121000000 extends Migration {
  override up (): void {
    this.addSql(`create table "platforms" (
      "id" serial primary key,
      "slug" text not null,
      "fs_slug" text not null,
      "name" text not null,
      "custom_name" text null,
      "description" text null,
      "missing_from_fs" boolean not null default false,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql('create index "platforms_slug_index" on "platforms" ("slug")')
    this.addSql('alter table "platforms" add constraint "platforms_fs_slug_unique" unique ("fs_slug")')
    this.addSql(`create table "firmware" (
      "id" serial primary key,
      "platform_id" int not null,
      "file_name" text not null,
      "file_path" text not null,
      "file_size_bytes" bigint not null default '0',
      "crc_hash" text not null default '',
      "md5_hash" text not null default '',
      "sha1_hash" text not null default '',
      "is_verified" boolean not null default false,
      "missing_from_fs" boolean not null default false,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql('alter table "firmware" add constraint "firmware_platform_id_file_name_unique" unique ("platform_id", "file_name")')
    this.addSql(`create table "plugin_cache" (
      "plugin" text not null,
      "key" text not null,
      "value" jsonb not null,
      "expires_at" timestamptz(3) null, primary key ("plugin", "key"))`)
    this.addSql(`create table "roms" (
      "id" serial primary key,
      "platform_id" int not null,
      "fs_name" text collate "C" not null,
      "fs_path" text not null,
      "fs_extension" text not null default '',
      "fs_name_no_tags" text not null,
      "fs_name_no_ext" text not null,
      "fs_size_bytes" bigint not null default '0',
      "is_folder" boolean not null default false,
      "has_nested_single_file" boolean not null default false,
      "has_multiple_files" boolean not null default false,
      "has_soundtrack" boolean not null default false,
      "name" text null,
      "name_sort_key" text collate "C" not null default '',
      "slug" text null,
      "summary" text null,
      "alternative_names" text[] not null default '{}',
      "youtube_video_id" text null,
      "genres" text[] not null default '{}',
      "franchises" text[] not null default '{}',
      "collections" text[] not null default '{}',
      "companies" text[] not null default '{}',
      "developers" text[] not null default '{}',
      "publishers" text[] not null default '{}',
      "game_modes" text[] not null default '{}',
      "age_ratings" text[] not null default '{}',
      "player_count" text not null default '1',
      "first_release_date" bigint null,
      "average_rating" real null,
      "revision" text null,
      "version" text null,
      "regions" text[] not null default '{}',
      "languages" text[] not null default '{}',
      "tags" text[] not null default '{}',
      "crc_hash" text not null default '',
      "md5_hash" text not null default '',
      "sha1_hash" text not null default '',
      "ra_hash" text null,
      "url_cover" text null,
      "path_cover_small" text null,
      "path_cover_large" text null,
      "url_screenshots" text[] not null default '{}',
      "path_screenshots" text[] not null default '{}',
      "url_manual" text null,
      "path_manual" text null,
      "media" jsonb not null default '{}',
      "is_identified" boolean not null default false,
      "missing_from_fs" boolean not null default false,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql('create index "roms_crc_hash_index" on "roms" ("crc_hash")')
    this.addSql('create index "roms_md5_hash_index" on "roms" ("md5_hash")')
    this.addSql('create index "roms_sha1_hash_index" on "roms" ("sha1_hash")')
    this.addSql('create index "roms_name_sort_key_id_index" on "roms" ("name_sort_key", "id")')
    this.addSql('create index "roms_platform_id_name_sort_key_id_index" on "roms" ("platform_id", "name_sort_key", "id")')
    this.addSql('create index "roms_updated_at_index" on "roms" ("updated_at")')
    this.addSql('create index "roms_ra_hash_index" on "roms" ("ra_hash") where "ra_hash" is not null')
    this.addSql('alter table "roms" add constraint "roms_platform_id_fs_name_unique" unique ("platform_id", "fs_name")')
    this.addSql(`create table "rom_files" (
      "id" serial primary key,
      "rom_id" int not null,
      "file_name" text not null,
      "file_path" text not null,
      "file_size_bytes" bigint not null default '0',
      "last_modified" timestamptz(3) not null,
      "inode" text not null default '',
      "is_top_level" boolean not null default true,
      "category" text null,
      "crc_hash" text not null default '',
      "md5_hash" text not null default '',
      "sha1_hash" text not null default '',
      "ra_hash" text null,
      "chd_sha1_hash" text null,
      "archive_members" jsonb null,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql('create index "rom_files_crc_hash_index" on "rom_files" ("crc_hash")')
    this.addSql('create index "rom_files_md5_hash_index" on "rom_files" ("md5_hash")')
    this.addSql('create index "rom_files_sha1_hash_index" on "rom_files" ("sha1_hash")')
    this.addSql('create index "rom_files_ra_hash_index" on "rom_files" ("ra_hash") where "ra_hash" is not null')
    this.addSql('create index "rom_files_chd_sha1_hash_index" on "rom_files" ("chd_sha1_hash") where "chd_sha1_hash" is not null')
    this.addSql('alter table "rom_files" add constraint "rom_files_rom_id_file_path_file_name_unique" unique ("rom_id", "file_path", "file_name")')
    this.addSql(`create table "rom_matches" (
      "rom_id" int not null,
      "provider" text not null,
      "provider_id" text not null,
      "match" jsonb not null,
      "updated_at" timestamptz(3) not null default now(), primary key ("rom_id", "provider"))`)
    this.addSql('create index "rom_matches_provider_provider_id_index" on "rom_matches" ("provider", "provider_id")')
    this.addSql(`create table "tasks" (
      "id" uuid not null,
      "task_key" text null,
      "title" text not null,
      "type" text not null,
      "status" text not null default 'queued',
      "payload" jsonb not null default '{}',
      "meta" jsonb not null default '{}',
      "lock" text null,
      "cancel_requested" boolean not null default false,
      "attempts" int not null default 0,
      "worker_id" text null,
      "error" text null,
      "user_id" int null,
      "created_at" timestamptz(3) not null default now(),
      "enqueued_at" timestamptz(3) not null default now(),
      "started_at" timestamptz(3) null,
      "ended_at" timestamptz(3) null, primary key ("id"))`)
    this.addSql('create index "tasks_status_created_at_index" on "tasks" ("status", "created_at")')
    this.addSql('create unique index "tasks_lock_unique" on "tasks" ("lock") where status in (\'queued\', \'started\')')
    this.addSql('alter table "tasks" add constraint "tasks_type_check" check ("type" in (\'scan\', \'conversion\', \'cleanup\', \'update\', \'sync\', \'watcher\', \'generic\'))')
    this.addSql('alter table "tasks" add constraint "tasks_status_check" check ("status" in (\'queued\', \'started\', \'deferred\', \'scheduled\', \'finished\', \'failed\', \'stopped\', \'canceled\'))')
    this.addSql(`create table "users" (
      "id" serial primary key,
      "username" text not null,
      "email" text null,
      "password_hash" text null,
      "role" text not null default 'user',
      "enabled" boolean not null default true,
      "avatar_path" text not null default '',
      "ra_username" text null,
      "ui_settings" jsonb null,
      "last_login" timestamptz(3) null,
      "last_active" timestamptz(3) null,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql('alter table "users" add constraint "users_username_unique" unique ("username")')
    this.addSql('alter table "users" add constraint "users_email_unique" unique ("email")')
    this.addSql('alter table "users" add constraint "users_role_check" check ("role" in (\'admin\', \'user\'))')
    this.addSql(`create table "sessions" (
      "id" serial primary key,
      "token_hash" text not null,
      "user_id" int not null,
      "user_agent" text not null default '',
      "address" text not null default '',
      "created_at" timestamptz(3) not null default now(),
      "seen_at" timestamptz(3) not null default now(),
      "expires_at" timestamptz(3) not null)`)
    this.addSql('alter table "sessions" add constraint "sessions_token_hash_unique" unique ("token_hash")')
    this.addSql('create index "sessions_user_id_index" on "sessions" ("user_id")')
    this.addSql(`create table "rom_users" (
      "id" serial primary key,
      "rom_id" int not null,
      "user_id" int not null,
      "last_played" timestamptz(3) null,
      "is_main_sibling" boolean not null default false,
      "backlogged" boolean not null default false,
      "now_playing" boolean not null default false,
      "hidden" boolean not null default false,
      "rating" int not null default 0,
      "difficulty" int not null default 0,
      "completion" int not null default 0,
      "status" text null,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql('create index "rom_users_user_id_index" on "rom_users" ("user_id")')
    this.addSql('alter table "rom_users" add constraint "rom_users_rom_id_user_id_unique" unique ("rom_id", "user_id")')
    this.addSql('alter table "rom_users" add constraint "rom_users_status_check" check ("status" in (\'incomplete\', \'finished\', \'completed_100\', \'retired\', \'never_playing\'))')
    this.addSql(`create table "client_tokens" (
      "id" serial primary key,
      "user_id" int not null,
      "name" text not null,
      "token_hash" text not null,
      "scopes" text[] not null default '{}',
      "expires_at" timestamptz(3) null,
      "last_used_at" timestamptz(3) null,
      "created_at" timestamptz(3) not null default now())`)
    this.addSql('create index "client_tokens_user_id_index" on "client_tokens" ("user_id")')
    this.addSql('alter table "client_tokens" add constraint "client_tokens_token_hash_unique" unique ("token_hash")')
    this.addSql(`create table "workers" (
      "id" text not null,
      "role" text not null,
      "started_at" timestamptz(3) not null default now(),
      "seen_at" timestamptz(3) not null default now(), primary key ("id"))`)
    this.addSql('alter table "firmware" add constraint "firmware_platform_id_foreign" foreign key ("platform_id") references "platforms" ("id") on delete cascade')
    this.addSql('alter table "roms" add constraint "roms_platform_id_foreign" foreign key ("platform_id") references "platforms" ("id") on delete cascade')
    this.addSql('alter table "rom_files" add constraint "rom_files_rom_id_foreign" foreign key ("rom_id") references "roms" ("id") on delete cascade')
    this.addSql('alter table "rom_matches" add constraint "rom_matches_rom_id_foreign" foreign key ("rom_id") references "roms" ("id") on delete cascade')
    this.addSql('alter table "sessions" add constraint "sessions_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "rom_users" add constraint "rom_users_rom_id_foreign" foreign key ("rom_id") references "roms" ("id") on delete cascade')
    this.addSql('alter table "rom_users" add constraint "rom_users_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "client_tokens" add constraint "client_tokens_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql(`create table "socket_io_attachments" (
      "id" bigserial primary key, "created_at" timestamptz default now(), "payload" bytea)`)
  }
}
