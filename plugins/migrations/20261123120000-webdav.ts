import { Migration } from '@mikro-orm/migrations'

/** Paths of files that clients sync through WebDAV, and their state on each device. */
export class Migration20261123120000 extends Migration {
  override up (): void {
    this.addSql(`create table webdav_files (
      id serial primary key,
      user_id int not null,
      path text not null,
      folded text not null,
      asset_id int,
      rom_id int,
      sha1 text,
      md5 text,
      file_size_bytes bigint not null default '0',
      disk_path text,
      deleted_at timestamptz(3),
      updated_at timestamptz(3) not null default now(),
      constraint webdav_files_user_id_folded_unique unique (user_id, folded),
      constraint webdav_files_user_id_foreign foreign key (user_id) references users on delete cascade,
      constraint webdav_files_asset_id_foreign foreign key (asset_id) references assets on delete set null,
      constraint webdav_files_rom_id_foreign foreign key (rom_id) references roms on delete set null)`)
    this.addSql('create index webdav_files_asset_id_index on webdav_files (asset_id)')
    this.addSql('create index webdav_files_rom_id_index on webdav_files (rom_id)')
    this.addSql(`create table webdav_listings (
      device_id int not null,
      file_id int not null,
      listed text,
      held text,
      is_sent boolean not null default false,
      misses int not null default 0,
      deleted_at timestamptz(3),
      primary key (device_id, file_id),
      constraint webdav_listings_device_id_foreign foreign key (device_id) references devices on update cascade on delete cascade,
      constraint webdav_listings_file_id_foreign foreign key (file_id) references webdav_files
        on update cascade on delete cascade)`)
    this.addSql('create index webdav_listings_file_id_index on webdav_listings (file_id)')
  }
}
