import { Migration } from '@mikro-orm/migrations'

/** The tags of soundtrack files. */
export class Migration20261122123002 extends Migration {
  override up (): void {
    this.addSql('alter table "rom_files" add column "track_meta" jsonb null')
  }
}
