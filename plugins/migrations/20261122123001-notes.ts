import { Migration } from '@mikro-orm/migrations'

/** Notes of users about ROMs. */
export class Migration20261122123001 extends Migration {
  override up (): void {
    this.addSql(`create table "notes" (
      "id" serial primary key,
      "rom_id" int not null,
      "user_id" int not null,
      "title" text not null,
      "content" text not null default '',
      "is_public" boolean not null default false,
      "tags" text[] null,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql('create index "notes_user_id_index" on "notes" ("user_id")')
    this.addSql('alter table "notes" add constraint "notes_rom_id_user_id_title_unique" unique ("rom_id", "user_id", "title")')
    this.addSql('alter table "notes" add constraint "notes_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
  }
}
