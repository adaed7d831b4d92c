import { Migration } from '@mikro-orm/migrations'

/** Descriptions of plugins, for processes that do not run plugin code. */
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
