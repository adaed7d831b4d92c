import { Migration } from '@mikro-orm/migrations'

/** The identity of a data directory, and folders of users whose names no other database contains. */
export class Migration20261122000300 extends Migration {
  override up (): void {
    this.addSql(`create table "installation" (
      "id" int not null default 1 primary key,
      "identity" uuid not null,
      "looked_at" timestamptz(3) null)`)
    this.addSql('alter table "users" add column "folder" text null')
    // The existing accounts keep their folders.
    this.addSql('update "users" set "folder" = encode(convert_to(\'User:\' || "id", \'UTF8\'), \'hex\')')
    this.addSql('alter table "users" alter column "folder" set not null, alter column "folder" set default gen_random_uuid()::text')
    this.addSql('alter table "users" add constraint "users_folder_unique" unique ("folder")')
  }
}
