/**
 * Trigrams find words inside of names. A database without the extension, or whose role may not add it, searches all
 * names instead.
 */
const INDEX_NAMES = `do $$ begin
  create extension if not exists pg_trgm;
  create index roms_name_fs_name_trigrams on roms using gin (name gin_trgm_ops, fs_name gin_trgm_ops);
exception when insufficient_privilege or undefined_file or feature_not_supported or undefined_object then
  raise notice 'Without the extension pg_trgm searches read all names: %', sqlerrm;
end $$`

/** Tables of libraries and their ROMs. */
export const library = [
  `create table libraries (
    id int primary key,
    name text not null,
    root text not null,
    scan_id uuid,
    scanned_at timestamptz(3),
    problem text)`,
  `create table library_versions (
    id serial primary key,
    kind text not null,
    user_id int not null,
    version bigint not null) with (fillfactor = 50);
  create index library_versions_user_id_kind_index on library_versions (user_id, kind)`,
  `create table library_counts (
    id serial primary key,
    platform_id int not null,
    min_age int,
    kind text not null,
    key text not null,
    roms int not null,
    bytes bigint not null default '0')`,
  `create table platforms (
    id serial primary key,
    slug text not null,
    fs_slug text not null,
    name text not null,
    custom_name text,
    description text,
    missing_from_fs boolean not null default false,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    constraint platforms_fs_slug_unique unique (fs_slug));
  create index platforms_slug_index on platforms (slug)`,
  // The inode distinguishes a platform's folder from a mount point without its disk.
  `create table platform_folders (
    platform_id int not null,
    library_id int not null,
    fs_inode text,
    missing_from_fs boolean not null default false,
    primary key (platform_id, library_id),
    constraint platform_folders_platform_id_foreign foreign key (platform_id) references platforms on delete cascade)`,
  `create table former_platforms (
    fs_slug text primary key,
    id int not null,
    custom_name text,
    description text,
    deleted_at timestamptz(3) not null default now())`,
  `create table firmware (
    id serial primary key,
    platform_id int not null,
    file_name text not null,
    file_path text not null,
    file_size_bytes bigint not null default '0',
    crc_hash text not null default '',
    md5_hash text not null default '',
    sha1_hash text not null default '',
    is_verified boolean not null default false,
    missing_from_fs boolean not null default false,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    library_id int not null default 1,
    constraint firmware_platform_id_file_name_library_id_unique unique (platform_id, file_name, library_id),
    constraint firmware_platform_id_foreign foreign key (platform_id) references platforms on delete cascade)`,
  `create table roms (
    id serial primary key,
    platform_id int not null,
    fs_name text collate "C" not null,
    fs_path text not null,
    fs_extension text not null default '',
    fs_name_no_tags text not null,
    fs_name_no_ext text not null,
    fs_size_bytes bigint not null default '0',
    is_folder boolean not null default false,
    has_nested_single_file boolean not null default false,
    has_multiple_files boolean not null default false,
    has_soundtrack boolean not null default false,
    name text,
    name_sort_key text collate "C" not null default '',
    slug text,
    summary text,
    alternative_names text[] not null default '{}',
    youtube_video_id text,
    genres text[] not null default '{}',
    franchises text[] not null default '{}',
    collections text[] not null default '{}',
    companies text[] not null default '{}',
    developers text[] not null default '{}',
    publishers text[] not null default '{}',
    game_modes text[] not null default '{}',
    age_ratings text[] not null default '{}',
    player_count text not null default '1',
    first_release_date bigint,
    average_rating real,
    revision text,
    version text,
    regions text[] not null default '{}',
    languages text[] not null default '{}',
    tags text[] not null default '{}',
    crc_hash text not null default '',
    md5_hash text not null default '',
    sha1_hash text not null default '',
    ra_hash text,
    url_cover text,
    path_cover_small text,
    path_cover_large text,
    url_screenshots text[] not null default '{}',
    path_screenshots text[] not null default '{}',
    url_manual text,
    path_manual text,
    media jsonb not null default '{}',
    is_identified boolean not null default false,
    missing_from_fs boolean not null default false,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    min_age int,
    badges text[] not null default '{}',
    own_fields text[] not null default '{}',
    manual_metadata jsonb,
    edits int not null default 0,
    library_id int not null default 1,
    constraint roms_platform_id_fs_name_library_id_unique unique (platform_id, fs_name, library_id),
    constraint roms_platform_id_foreign foreign key (platform_id) references platforms on delete cascade);
  create index roms_crc_hash_index on roms (crc_hash);
  create index roms_md5_hash_index on roms (md5_hash);
  create index roms_sha1_hash_index on roms (sha1_hash);
  create index roms_platform_id_name_sort_key_id_index on roms (platform_id, name_sort_key, id);
  create index roms_updated_at_index on roms (updated_at);
  create index roms_ra_hash_index on roms (ra_hash) where ra_hash is not null;
  create index roms_lists on roms using gin (genres, franchises, collections, companies, age_ratings, regions, languages, tags);
  create index roms_created_at_index on roms (created_at);
  create index roms_library_id_index on roms (library_id);
  create index roms_by_name on roms (name_sort_key, id)
    include (platform_id, library_id, min_age, fs_size_bytes, missing_from_fs, has_soundtrack)`,
  INDEX_NAMES,
  `create table rom_files (
    id serial primary key,
    rom_id int not null,
    file_name text not null,
    file_path text not null,
    file_size_bytes bigint not null default '0',
    last_modified timestamptz(3) not null,
    inode text not null default '',
    is_top_level boolean not null default true,
    category text,
    crc_hash text not null default '',
    md5_hash text not null default '',
    sha1_hash text not null default '',
    ra_hash text,
    chd_sha1_hash text,
    archive_members jsonb,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    track_meta jsonb,
    tags_of timestamptz(3),
    constraint rom_files_rom_id_file_path_file_name_unique unique (rom_id, file_path, file_name),
    constraint rom_files_rom_id_foreign foreign key (rom_id) references roms on delete cascade);
  create index rom_files_crc_hash_index on rom_files (crc_hash);
  create index rom_files_md5_hash_index on rom_files (md5_hash);
  create index rom_files_sha1_hash_index on rom_files (sha1_hash);
  create index rom_files_ra_hash_index on rom_files (ra_hash) where ra_hash is not null;
  create index rom_files_chd_sha1_hash_index on rom_files (chd_sha1_hash) where chd_sha1_hash is not null;
  create index rom_files_tracks on rom_files (rom_id) where track_meta is not null;
  create index rom_files_untagged on rom_files (id)
    where category = 'soundtrack' and tags_of is distinct from last_modified`,
  `create table rom_matches (
    rom_id int not null,
    provider text not null,
    provider_id text,
    match jsonb not null,
    explanation jsonb,
    updated_at timestamptz(3) not null default now(),
    primary key (rom_id, provider),
    constraint rom_matches_rom_id_foreign foreign key (rom_id) references roms on delete cascade);
  create index rom_matches_provider_provider_id_rom_id_index on rom_matches (provider, provider_id, rom_id)`,
  `create table rom_misses (
    rom_id int primary key,
    explanations jsonb not null,
    constraint rom_misses_rom_id_foreign foreign key (rom_id) references roms on update cascade on delete cascade)`,
  // Keys with which siblings are found without reading the ROMs or their matches.
  `create table rom_games (
    rom_id int primary key,
    platform_id int not null,
    ids text[] not null default '{}',
    other_ids text[] not null default '{}',
    is_early boolean not null default false,
    region text,
    fs_name_no_ext text not null,
    constraint rom_games_rom_id_foreign foreign key (rom_id) references roms on update cascade on delete cascade)`,
  // A journal, so that a crashed rename can be completed.
  `create table rom_renames (
    rom_id int primary key,
    platform_id int not null,
    fs_name text not null,
    created_at timestamptz(3) not null default now(),
    constraint rom_renames_platform_id_fs_name_unique unique (platform_id, fs_name),
    constraint rom_renames_rom_id_foreign foreign key (rom_id) references roms on update cascade on delete cascade)`,
  // Deleted ROMs: rows that refer to their ids stay, and the id returns with the files.
  `create table former_roms (
    id int primary key,
    platform_id int not null,
    fs_name text not null,
    fs_size_bytes bigint not null default '0',
    sha1_hash text not null default '',
    deleted_at timestamptz(3) not null default now(),
    library_id int not null default 1,
    locks jsonb);
  create index former_roms_platform_id_fs_name_index on former_roms (platform_id, fs_name);
  create index former_roms_sha1_hash_index on former_roms (sha1_hash)`,
  // Files that crashed the process that read them.
  `create table crashed_files (
    path text primary key,
    size_bytes bigint not null,
    modified_ms bigint not null,
    reason text not null,
    created_at timestamptz(3) not null default now())`,
  `create table rom_uploads (
    id uuid primary key,
    user_id int not null,
    platform_id int not null,
    fs_path text not null,
    file_name text not null,
    total_size bigint not null,
    total_chunks int not null,
    chunk_size bigint,
    assembled_by text,
    created_at timestamptz(3) not null default now(),
    library_id int not null default 1,
    constraint rom_uploads_user_id_foreign foreign key (user_id) references users on delete cascade,
    constraint rom_uploads_platform_id_foreign foreign key (platform_id) references platforms on delete cascade);
  create index rom_uploads_user_id_index on rom_uploads (user_id);
  create index rom_uploads_platform_id_index on rom_uploads (platform_id)`,
  `create table rom_upload_chunks (
    upload_id uuid not null,
    number int not null,
    size bigint not null,
    is_apart boolean not null,
    primary key (upload_id, number),
    constraint rom_upload_chunks_upload_id_foreign foreign key (upload_id) references rom_uploads on delete cascade)`,
  // Running conversions, so that a crashed one can be completed.
  `create table rom_conversions (
    rom_id int primary key,
    platform_id int not null,
    work_path text not null,
    swap jsonb,
    created_at timestamptz(3) not null default now(),
    library_id int not null default 1)`,
  `create table trash_items (
    id serial primary key,
    kind text not null,
    library_id int not null,
    platform_id int not null,
    platform_fs_slug text not null,
    rom_id int not null,
    name text not null,
    min_age int,
    entry text not null,
    fs_path text not null,
    file_path text not null,
    file_name text not null,
    below text,
    is_folder boolean not null default false,
    file_size_bytes bigint not null default '0',
    kept jsonb,
    deleted_by int,
    deleted_at timestamptz(3) not null default now(),
    constraint trash_items_kind_check check (kind in ('rom', 'file')),
    constraint trash_items_deleted_by_foreign foreign key (deleted_by) references users on delete set null);
  create index trash_items_library_id_entry_index on trash_items (library_id, entry);
  create index trash_items_rom_id_index on trash_items (rom_id);
  create index trash_items_deleted_by_index on trash_items (deleted_by)`
]
