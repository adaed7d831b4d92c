import { Migration } from '@mikro-orm/migrations'

/** DAT files, the games that ROMs of the library match, and whether the dump of each ROM is good. */
export class Migration20261123180000 extends Migration {
  override up (): void {
    this.addSql(`create table dats (
      id serial primary key,
      key text not null,
      name text not null,
      description text not null default '',
      version text not null default '',
      date text not null default '',
      author text not null default '',
      folder_path text,
      platform_slugs text[] not null default '{}',
      is_platform_chosen boolean not null default false,
      game_count int not null default 0,
      file_count int not null default 0,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint dats_key_unique unique (key))`)
    this.addSql(`create table dat_folder_files (
      path text primary key,
      file_size_bytes bigint not null,
      modified_ms bigint not null,
      problem text)`)
    this.addSql(`create table dat_games (
      dat_id int not null,
      position int not null,
      name text not null,
      clone_of text,
      needed int not null,
      primary key (dat_id, position))`)
    this.addSql('create index dat_games_dat_id_name_index on dat_games (dat_id, name)')
    this.addSql(`create table dat_files (
      dat_id int not null,
      game int not null,
      position int not null,
      name text not null,
      file_size_bytes bigint,
      crc_hash text not null default '',
      md5_hash text not null default '',
      sha1_hash text not null default '',
      status text not null,
      merge text,
      is_disk boolean not null default false,
      is_needed boolean not null default false,
      primary key (dat_id, game, position))`)
    this.addSql("create index dat_files_sha1_hash on dat_files (sha1_hash) where sha1_hash <> ''")
    this.addSql("create index dat_files_md5_hash on dat_files (md5_hash) where md5_hash <> ''")
    this.addSql(`create index dat_files_crc_hash on dat_files (crc_hash)
      where crc_hash <> '' and sha1_hash = '' and md5_hash = ''`)
    this.addSql(`create table dat_matches (
      dat_id int not null,
      game int not null,
      rom_id int not null,
      is_complete boolean not null default false,
      is_bad boolean not null default false,
      is_best boolean not null default false,
      expected_name text,
      primary key (dat_id, game, rom_id),
      constraint dat_matches_dat_id_foreign foreign key (dat_id) references dats on delete cascade,
      constraint dat_matches_rom_id_foreign foreign key (rom_id) references roms on delete cascade)`)
    this.addSql('create index dat_matches_rom_id_index on dat_matches (rom_id)')
    this.addSql(`create table rom_dumps (
      rom_id int primary key,
      status text not null,
      compared_at timestamptz(3) not null,
      constraint rom_dumps_rom_id_foreign foreign key (rom_id) references roms on update cascade on delete cascade)`)
    this.addSql('create index rom_dumps_status_rom_id_index on rom_dumps (status, rom_id)')
    this.addSql(`create trigger note_change after insert or update or delete on rom_dumps
      for each statement execute function note_library_change()`)
  }
}
