import { Migration } from '@mikro-orm/migrations'

/** ROM uploads in parts. */
export class Migration20261122140000 extends Migration {
  override up (): void {
    this.addSql(`create table "rom_uploads" (
      "id" uuid not null,
      "user_id" int not null,
      "platform_id" int not null,
      "fs_path" text not null,
      "file_name" text not null,
      "total_size" bigint not null,
      "total_chunks" int not null,
      "chunk_size" bigint null,
      "assembled_by" text null,
      "created_at" timestamptz(3) not null default now(), primary key ("id"))`)
    this.addSql('create index "rom_uploads_user_id_index" on "rom_uploads" ("user_id")')
    this.addSql('create index "rom_uploads_platform_id_index" on "rom_uploads" ("platform_id")')
    this.addSql(`create table "rom_upload_chunks" (
      "upload_id" uuid not null,
      "number" int not null,
      "size" bigint not null,
      "is_apart" boolean not null, primary key ("upload_id", "number"))`)
    this.addSql('alter table "rom_uploads" add constraint "rom_uploads_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "rom_uploads" add constraint "rom_uploads_platform_id_foreign" foreign key ("platform_id") references "platforms" ("id") on delete cascade')
    this.addSql('alter table "rom_upload_chunks" add constraint "rom_upload_chunks_upload_id_foreign" foreign key ("upload_id") references "rom_uploads" ("id") on delete cascade')
  }
}
