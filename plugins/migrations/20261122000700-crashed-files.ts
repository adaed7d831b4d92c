import { Migration } from '@mikro-orm/migrations'

/** Files that crashed the process that read them. */
export class Migration20261122000700 extends Migration {
  override up (): void {
    this.addSql(`create table "crashed_files" (
      "path" text not null,
      "size_bytes" bigint not null,
      "modified_ms" bigint not null,
      "reason" text not null,
      "created_at" timestamptz(3) not null default now(),
      primary key ("path"))`)
  }
}
