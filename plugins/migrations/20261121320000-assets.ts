import { Migration } from '@mikro-orm/migrations'

/** Tables of saves, states and screenshots with their former versions. */
export class Migration20261121320000 extends Migration {
  override up (): void {
    this.addSql(`create table "assets" (
      "id" serial primary key,
      "kind" text not null,
      "user_id" int not null,
      "rom_id" int null,
      "platform_fs_slug" text not null,
      "rom_fs_name" text not null,
      "file_name" text not null,
      "emulator" text null,
      "slot" text null,
      "file_size_bytes" bigint not null default '0',
      "content_hash" text null,
      "sha1" text not null,
      "disk_path" text not null,
      "client_mtime" timestamptz(3) null,
      "is_public" boolean not null default false,
      "is_gallery" boolean not null default false,
      "missing_from_fs" boolean not null default false,
      "origin_device_id" int null,
      "conflict_of" int null,
      "deleted_at" timestamptz(3) null,
      "deleted_by" text null,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql('create index "assets_user_id_kind_rom_id_index" on "assets" ("user_id", "kind", "rom_id")')
    this.addSql('create index "assets_rom_id_index" on "assets" ("rom_id")')
    this.addSql('create index "assets_deleted_at_index" on "assets" ("deleted_at")')
    this.addSql('alter table "assets" add constraint "assets_kind_check" check ("kind" in (\'save\', \'state\', \'screenshot\'))')
    this.addSql('alter table "assets" add constraint "assets_deleted_by_check" check ("deleted_by" in (\'owner\', \'cleanup\'))')
    this.addSql(`create table "asset_versions" (
      "id" serial primary key,
      "asset_id" int not null,
      "file_name" text not null,
      "file_size_bytes" bigint not null default '0',
      "content_hash" text null,
      "sha1" text not null,
      "disk_path" text not null,
      "client_mtime" timestamptz(3) null,
      "content_updated_at" timestamptz(3) not null,
      "created_at" timestamptz(3) not null default now())`)
    this.addSql('create index "asset_versions_asset_id_index" on "asset_versions" ("asset_id")')
    this.addSql('alter table "assets" add constraint "assets_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "assets" add constraint "assets_rom_id_foreign" foreign key ("rom_id") references "roms" ("id") on delete set null')
    this.addSql('alter table "assets" add constraint "assets_origin_device_id_foreign" foreign key ("origin_device_id") references "devices" ("id") on delete set null')
    this.addSql('alter table "asset_versions" add constraint "asset_versions_asset_id_foreign" foreign key ("asset_id") references "assets" ("id") on delete cascade')
  }
}
