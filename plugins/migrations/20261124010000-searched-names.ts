import { Migration } from '@mikro-orm/migrations'

/** Without the extension, searches read all names, as in the first migration. */
const INDEX_NAMES = `do $$ begin
  create index roms_names_trigrams on roms using gin ((coalesce(name, '') || ' ' || fs_name) gin_trgm_ops);
exception when undefined_object then
  raise notice 'Without the extension pg_trgm searches read all names: %', sqlerrm;
end $$`

/**
 * An index of both names of a ROM as one text. It is smaller than one of two columns, and finds several words at once.
 * The planner has no statistics of the text before the table is analyzed.
 */
export class Migration20261124010000 extends Migration {
  override up (): void {
    this.addSql('drop index if exists roms_name_fs_name_trigrams')
    this.addSql(INDEX_NAMES)
    this.addSql('analyze roms')
  }
}
