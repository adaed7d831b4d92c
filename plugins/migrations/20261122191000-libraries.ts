import { Migration } from '@mikro-orm/migrations'

/** ROMs and firmware files are unique within one library, because the same platform may be in several. */
const UNIQUES = [['roms', 'platform_id', 'fs_name'], ['firmware', 'platform_id', 'file_name']] as const

const KEEP_ROM = `create or replace function keep_former_rom () returns trigger language plpgsql as $$ begin
  insert into former_roms (id, library_id, platform_id, fs_name, fs_size_bytes, sha1_hash)
    values (old.id, old.library_id, old.platform_id, old.fs_name, old.fs_size_bytes, old.sha1_hash);
  return old;
end $$`

/** Several libraries. All existing rows belong to the first one. */
export class Migration20261122191000 extends Migration {
  override up (): void {
    this.addSql(`create table "libraries" (
      "id" int not null,
      "name" text not null,
      "root" text not null,
      "scan_id" uuid null,
      "scanned_at" timestamptz(3) null,
      "problem" text null, primary key ("id"))`)
    for (const table of ['roms', 'firmware', 'former_roms', 'rom_uploads', 'rom_conversions']) {
      this.addSql(`alter table "${table}" add column "library_id" int not null default 1`)
    }
    for (const [table, ...columns] of UNIQUES) {
      const keys = [...columns, 'library_id']
      this.addSql(`alter table "${table}" drop constraint "${table}_${columns.join('_')}_unique"`)
      this.addSql(`alter table "${table}" add constraint "${table}_${keys.join('_')}_unique" unique ("${keys.join('", "')}")`)
    }
    this.addSql('create index "roms_library_id_index" on "roms" ("library_id")')
    this.addSql(KEEP_ROM)
    this.addSql(`create table "platform_folders" (
      "platform_id" int not null,
      "library_id" int not null,
      "fs_inode" text null,
      "missing_from_fs" boolean not null default false, primary key ("platform_id", "library_id"))`)
    this.addSql(`alter table "platform_folders" add constraint "platform_folders_platform_id_foreign"
      foreign key ("platform_id") references "platforms" ("id") on delete cascade`)
    this.addSql(`insert into "platform_folders" ("platform_id", "library_id", "fs_inode", "missing_from_fs")
      select "id", 1, "fs_inode", "missing_from_fs" from "platforms"`)
    this.addSql('alter table "platforms" drop column "fs_inode"')
  }
}
