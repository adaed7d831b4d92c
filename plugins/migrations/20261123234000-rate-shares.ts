import { Migration } from '@mikro-orm/migrations'

/** The parts of the rates of plugins that processes use. Unlogged, because a part is valid for seconds. */
export class Migration20261123234000 extends Migration {
  override up (): void {
    this.addSql(`create unlogged table rate_shares (
      plugin text not null,
      rate text not null,
      holder text not null,
      requests int not null,
      expires_at timestamptz(3) not null,
      sent int not null,
      sent_until timestamptz(3) not null,
      primary key (plugin, rate, holder))`)
  }
}
