import { Migration } from '@mikro-orm/migrations'

/** What plugins are, for processes that run none of their code. */
export class Migration20261122010300 extends Migration {
  override up (): void {
    this.addSql(`create table "plugin_snapshots" (
      "fingerprint" text not null,
      "descriptions" jsonb not null,
      "worker" text null,
      "reports" jsonb not null default '[]',
      "stored_at" timestamptz(3) not null default now(),
      primary key ("fingerprint"))`)
  }
}
