import { Migration } from '@mikro-orm/migrations'

/** The newest lines of the log. The table is unlogged, because it need not survive a crash of the database. */
export class Migration20261122170000 extends Migration {
  override up (): void {
    this.addSql(`create unlogged table "log_lines" ("id" bigserial primary key, "ts" bigint not null,
      "level" text not null, "module" text not null, "message" text not null)`)
  }
}
