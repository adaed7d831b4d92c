import { Migration } from '@mikro-orm/migrations'

/** The id of the request that caused a delivery. */
export class Migration20261122221500 extends Migration {
  override up (): void {
    this.addSql('alter table "channel_deliveries" add column "request_id" text null')
  }
}
