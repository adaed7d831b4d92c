import { Migration } from '@mikro-orm/migrations'

/** A provider that only gives ids of other providers has no id of its own. */
export class Migration20261122010200 extends Migration {
  override up (): void {
    this.addSql('alter table "rom_matches" alter column "provider_id" drop not null')
  }
}
