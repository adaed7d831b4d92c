import { Migration } from '@mikro-orm/migrations'

/** Files in the trash of libraries, and their former state. */
export class Migration20261122193000 extends Migration {
  override up (): void {
    this.addSql(`create table "trash_items" (
      "id" serial primary key,
      "kind" text check ("kind" in ('rom', 'file')) not null,
      "library_id" int not null,
      "platform_id" int not null,
      "platform_fs_slug" text not null,
      "rom_id" int not null,
      "name" text not null,
      "min_age" int null,
      "entry" text not null,
      "fs_path" text not null,
      "file_path" text not null,
      "file_name" text not null,
      "below" text null,
      "is_folder" boolean not null default false,
      "file_size_bytes" bigint not null default '0',
      "kept" jsonb null,
      "deleted_by" int null,
      "deleted_at" timestamptz(3) not null default now())`)
    this.addSql('create index "trash_items_library_id_entry_index" on "trash_items" ("library_id", "entry")')
    this.addSql('create index "trash_items_rom_id_index" on "trash_items" ("rom_id")')
    this.addSql('create index "trash_items_deleted_by_index" on "trash_items" ("deleted_by")')
    this.addSql('alter table "trash_items" add constraint "trash_items_deleted_by_foreign" foreign key ("deleted_by") references "users" ("id") on delete set null')
  }
}
