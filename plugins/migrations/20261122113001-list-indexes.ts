import { Migration } from '@mikro-orm/migrations'

const LISTS = ['genres', 'franchises', 'collections', 'companies', 'age_ratings', 'regions', 'languages', 'tags']

/**
 * Trigrams find words inside of names. A database without the extension, or whose role may not add it, searches all
 * names instead.
 */
const INDEX_NAMES = `do $$ begin
  create extension if not exists pg_trgm;
  create index "roms_name_fs_name_trigrams" on "roms" using gin ("name" gin_trgm_ops, "fs_name" gin_trgm_ops);
exception when insufficient_privilege or undefined_file or feature_not_supported or undefined_object then
  raise notice 'Without the extension pg_trgm searches read all names: %', sqlerrm;
end $$`

/** Indexes with which lists of large libraries are found and sorted without reading all ROMs. */
export class Migration20261122113001 extends Migration {
  override up (): void {
    this.addSql(INDEX_NAMES)
    this.addSql(`create index "roms_lists" on "roms" using gin (${LISTS.map((name) => `"${name}"`).join(', ')})`)
    this.addSql('create index "roms_created_at_index" on "roms" ("created_at")')
    this.addSql('create index "rom_users_user_id_hidden" on "rom_users" ("user_id", "rom_id") where "hidden"')
  }
}
