import { Migration } from '@mikro-orm/migrations'

/** The progress of installs that devices report. */
export class Migration20261123235500 extends Migration {
  override up (): void {
    this.addSql('alter table install_requests add column percent int')
  }
}
