import { Migration } from '@mikro-orm/migrations'

/**
 * Covering indexes: lists of all ROMs, and sorting by ids of providers, read only the index, because rows are much
 * larger.
 */
export class Migration20261122220100 extends Migration {
  override up (): void {
    this.addSql('create index "roms_by_name" on "roms" ("name_sort_key", "id") ' +
      'include ("platform_id", "library_id", "min_age", "fs_size_bytes", "missing_from_fs", "has_soundtrack")')
    this.addSql('drop index "roms_name_sort_key_id_index"')
    this.addSql('create index "rom_matches_provider_provider_id_rom_id_index" on "rom_matches" ("provider", "provider_id", "rom_id")')
    this.addSql('drop index "rom_matches_provider_provider_id_index"')
  }
}
