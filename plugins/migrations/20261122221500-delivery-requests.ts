import { Migration } from '@mikro-orm/migrations'

/** Of a delivery it is known which request brought it about. */
export class Migration20261122221500 extends Migration {
  override up (): void {
    this.addSql('alter table "channel_deliveries" add column "request_id" text null')
  }
}
