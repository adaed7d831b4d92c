import { Migration } from '@mikro-orm/migrations'

/** Data of plugins that survives a restart: local indexes, and rate limits that services reported. */
export class Migration20261122100000 extends Migration {
  override up (): void {
    this.addSql(`create table "plugin_indexes" (
      "generation" serial not null,
      "plugin" text not null,
      "built_at" timestamptz(3) null,
      primary key ("generation"))`)
    this.addSql('create index "plugin_indexes_plugin_index" on "plugin_indexes" ("plugin")')
    this.addSql(`create table "plugin_limits" (
      "plugin" text not null,
      "limits" jsonb null,
      "allowances" jsonb not null default '{}',
      primary key ("plugin"))`)
  }
}
