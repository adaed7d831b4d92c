import { Migration } from '@mikro-orm/migrations'

/** Running conversions of ROMs, so that a crashed one can be completed. */
export class Migration20261122160100 extends Migration {
  override up (): void {
    this.addSql(`create table "rom_conversions" (
      "rom_id" int not null,
      "platform_id" int not null,
      "work_path" text not null,
      "swap" jsonb null,
      "created_at" timestamptz(3) not null default now(),
      constraint "rom_conversions_pkey" primary key ("rom_id"))`)
  }
}
