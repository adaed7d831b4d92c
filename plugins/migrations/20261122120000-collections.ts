import { Migration } from '@mikro-orm/migrations'

const NOTE_COLLECTIONS = `create function note_collections_change () returns trigger language plpgsql as $$ begin
  perform move_library_version('collections', 0);
  return null;
end $$`

const COMMON = `"id" serial primary key,
      "user_id" int not null,
      "name" text not null,
      "description" text not null default '',
      "is_public" boolean not null default false,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now()`

/** Tables of manual lists of ROMs, and of lists with a stored filter. */
export class Migration20261122120000 extends Migration {
  override up (): void {
    this.addSql(`create table "collections" (${COMMON},
      "is_favorite" boolean not null default false,
      "url_cover" text null,
      "path_cover_small" text null,
      "path_cover_large" text null)`)
    this.addSql(`create table "smart_collections" (${COMMON},
      "filter_criteria" jsonb not null)`)
    this.addSql(`create table "collection_roms" (
      "collection_id" int not null,
      "rom_id" int not null,
      primary key ("collection_id", "rom_id"))`)
    this.addSql('create index "collection_roms_rom_id_index" on "collection_roms" ("rom_id")')
    this.addSql('alter table "collection_roms" add constraint "collection_roms_collection_id_foreign" foreign key ("collection_id") references "collections" ("id") on update cascade on delete cascade')
    for (const table of ['collections', 'smart_collections']) {
      this.addSql(`alter table "${table}" add constraint "${table}_user_id_name_unique" unique ("user_id", "name")`)
      this.addSql(`alter table "${table}" add constraint "${table}_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade`)
    }
    this.addSql(NOTE_COLLECTIONS)
    for (const table of ['collections', 'smart_collections', 'collection_roms']) {
      this.addSql(`create trigger note_change after insert or update or delete on "${table}" for each statement execute function note_collections_change()`)
    }
  }
}
