import { Migration } from '@mikro-orm/migrations'

/** Tags of new soundtrack files are read after a scan. The indexes find files with and without tags. */
export class Migration20261122190000 extends Migration {
  override up (): void {
    this.addSql('alter table "rom_files" add column "tags_of" timestamptz(3) null')
    this.addSql("update rom_files set track_meta = null where track_meta = 'null'::jsonb")
    this.addSql('create index "rom_files_tracks" on "rom_files" ("rom_id") where "track_meta" is not null')
    this.addSql(`create index "rom_files_untagged" on "rom_files" ("id")
      where "category" = 'soundtrack' and "tags_of" is distinct from "last_modified"`)
  }
}
