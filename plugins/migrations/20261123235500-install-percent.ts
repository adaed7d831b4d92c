import { Migration } from '@mikro-orm/migrations'

/** The progress of installs that devices report. */
export class Migration20261123250000 extends Migration {
  override up (): void {
    this.addSql('alter table install_requests add column percent int')
  }
}
