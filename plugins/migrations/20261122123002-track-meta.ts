import { Migration } from '@mikro-orm/migrations'

/** What the tags of a soundtrack's files say. */
export class Migration20261122123002 extends Migration {
  override up (): void {
    this.addSql('alter table "rom_files" add column "track_meta" jsonb null')
  }
}
