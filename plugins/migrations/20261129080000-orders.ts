import { Migration } from '@mikro-orm/migrations'

/** Indexes for the first page by size, rating and release, and for the lists of few ROMs that a flag selects. */
export class Migration20261129080000 extends Migration {
  override up (): void {
    this.addSql('create index "roms_fs_size_bytes_index" on "roms" ("fs_size_bytes")')
    for (const column of ['average_rating', 'first_release_date']) {
      this.addSql(`create index "roms_${column}_index" on "roms" ("${column}") where "${column}" is not null`)
    }
    for (const column of ['missing_from_fs', 'has_soundtrack']) {
      this.addSql(`create index "roms_${column}_by_name" on "roms" ("name_sort_key", "id") where "${column}"`)
    }
  }
}
