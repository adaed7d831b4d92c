import { Migration } from '@mikro-orm/migrations'

/** Tables of online devices, and of their requests to install ROMs. */
export class Migration20261121310000 extends Migration {
  override up (): void {
    this.addSql(`create table "device_presences" (
      "socket_id" text not null,
      "device_id" int not null,
      "expires_at" timestamptz(3) not null,
      primary key ("socket_id"))`)
    this.addSql('create index "device_presences_device_id_index" on "device_presences" ("device_id")')
    this.addSql(`create table "install_requests" (
      "id" uuid not null default gen_random_uuid(),
      "user_id" int not null,
      "device_id" int not null,
      "rom_id" int not null,
      "file_ids" int[] not null default '{}',
      "status" text not null default 'pending',
      "reason" text null,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now(),
      primary key ("id"))`)
    this.addSql('create index "install_requests_rom_id_index" on "install_requests" ("rom_id")')
    this.addSql('create index "install_requests_device_id_created_at_index" on "install_requests" ("device_id", "created_at")')
    this.addSql('create unique index "install_requests_live_unique" on "install_requests" ("user_id", "device_id", "rom_id") where status in (\'pending\', \'taken\')')
    this.addSql('alter table "install_requests" add constraint "install_requests_status_check" check ("status" in (\'pending\', \'taken\', \'done\', \'already_installed\', \'failed\', \'cancelled\'))')
    this.addSql('alter table "device_presences" add constraint "device_presences_device_id_foreign" foreign key ("device_id") references "devices" ("id") on delete cascade')
    this.addSql('alter table "install_requests" add constraint "install_requests_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "install_requests" add constraint "install_requests_device_id_foreign" foreign key ("device_id") references "devices" ("id") on delete cascade')
    this.addSql('alter table "install_requests" add constraint "install_requests_rom_id_foreign" foreign key ("rom_id") references "roms" ("id") on delete cascade')
  }
}
