import { Migration } from '@mikro-orm/migrations'

/** Settings of plugins that administrators store. */
export class Migration20261123230000 extends Migration {
  override up (): void {
    this.addSql('create table plugin_settings (plugin text primary key, sealed text not null)')
  }
}
