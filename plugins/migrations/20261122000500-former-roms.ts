import { Migration } from '@mikro-orm/migrations'

const SINCE_ROM = ['rom_users', 'play_sessions', 'sync_bases']

/** Stores the id of every deleted row, also if the database deletes the row together with its platform. */
const KEEP_PLATFORM = `create function keep_former_platform () returns trigger language plpgsql as $$ begin
  insert into former_platforms (fs_slug, id, custom_name, description)
    values (old.fs_slug, old.id, old.custom_name, old.description)
    on conflict (fs_slug) do update set id = excluded.id, custom_name = excluded.custom_name, description = excluded.description;
  return old;
end $$`
const KEEP_ROM = `create function keep_former_rom () returns trigger language plpgsql as $$ begin
  insert into former_roms (id, platform_id, fs_name, fs_size_bytes, sha1_hash)
    values (old.id, old.platform_id, old.fs_name, old.fs_size_bytes, old.sha1_hash);
  return old;
end $$`

/** Tables of deleted ROMs and platforms. Rows that refer to their ids stay, and the id returns with the files. */
export class Migration20261122000500 extends Migration {
  override up (): void {
    this.addSql(`create table "former_platforms" (
      "fs_slug" text not null,
      "id" int not null,
      "custom_name" text null,
      "description" text null,
      "deleted_at" timestamptz(3) not null default now(), primary key ("fs_slug"))`)
    this.addSql(`create table "former_roms" (
      "id" int not null,
      "platform_id" int not null,
      "fs_name" text not null,
      "fs_size_bytes" bigint not null default '0',
      "sha1_hash" text not null default '',
      "deleted_at" timestamptz(3) not null default now(), primary key ("id"))`)
    this.addSql('create index "former_roms_platform_id_fs_name_index" on "former_roms" ("platform_id", "fs_name")')
    this.addSql('create index "former_roms_sha1_hash_index" on "former_roms" ("sha1_hash")')
    this.addSql(KEEP_PLATFORM)
    this.addSql(KEEP_ROM)
    this.addSql('create trigger keep_former before delete on "platforms" for each row execute function keep_former_platform()')
    this.addSql('create trigger keep_former before delete on "roms" for each row execute function keep_former_rom()')
    for (const table of SINCE_ROM) this.addSql(`alter table "${table}" drop constraint "${table}_rom_id_foreign"`)
  }
}
