import { Migration } from '@mikro-orm/migrations'

/** Field locks, which scans keep, and a journal of renames. */
export class Migration20261122123000 extends Migration {
  override up (): void {
    this.addSql(`alter table "roms"
      add column "own_fields" text[] not null default '{}',
      add column "manual_metadata" jsonb null,
      add column "edits" int not null default 0`)
    this.addSql(`create table "rom_renames" (
      "rom_id" int not null,
      "platform_id" int not null,
      "fs_name" text not null,
      "created_at" timestamptz(3) not null default now(),
      constraint "rom_renames_pkey" primary key ("rom_id"))`)
    this.addSql('alter table "rom_renames" add constraint "rom_renames_platform_id_fs_name_unique" unique ("platform_id", "fs_name")')
    this.addSql('alter table "rom_renames" add constraint "rom_renames_rom_id_foreign" ' +
      'foreign key ("rom_id") references "roms" ("id") on update cascade on delete cascade')
  }
}
