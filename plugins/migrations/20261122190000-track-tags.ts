import { Migration } from '@mikro-orm/migrations'

/** The tags of soundtracks that scans find are read later; what is to be read, and what was, is found by an index. */
export class Migration20261122190000 extends Migration {
  override up (): void {
    this.addSql('alter table "rom_files" add column "tags_of" timestamptz(3) null')
    this.addSql("update rom_files set track_meta = null where track_meta = 'null'::jsonb")
    this.addSql('create index "rom_files_tracks" on "rom_files" ("rom_id") where "track_meta" is not null')
    this.addSql(`create index "rom_files_untagged" on "rom_files" ("id")
      where "category" = 'soundtrack' and "tags_of" is distinct from "last_modified"`)
  }
}
