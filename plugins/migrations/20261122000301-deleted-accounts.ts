import { Migration } from '@mikro-orm/migrations'

/** Uploads of deleted accounts, as long as they can be restored. */
export class Migration20261122000301 extends Migration {
  override up (): void {
    this.addSql(`create table "deleted_accounts" (
      "id" serial primary key,
      "username" text not null,
      "assets" jsonb not null,
      "versions" jsonb not null,
      "deleted_at" timestamptz(3) not null default now())`)
  }
}
