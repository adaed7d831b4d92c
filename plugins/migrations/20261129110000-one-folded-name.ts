import { Migration } from '@mikro-orm/migrations'

/** Drops an index, because saves find ROMs by names without extension alone. A former release works without it. */
export class Migration20261129110000 extends Migration {
  override up (): void {
    this.addSql('drop index roms_folded_fs_name')
  }
}
