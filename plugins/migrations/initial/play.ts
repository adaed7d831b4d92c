/** Tables of syncs, play sessions, installs, netplay and streaming. */
export const play = [
  `create table sync_sessions (
    id serial primary key,
    session_id uuid not null default gen_random_uuid(),
    user_id int not null,
    device_id int not null,
    status text not null default 'IN_PROGRESS',
    operations_planned int not null default 0,
    operations_completed int not null default 0,
    operations_failed int not null default 0,
    error_message text,
    downloads jsonb not null default '[]',
    completed_with text,
    completed_answer jsonb,
    initiated_at timestamptz(3) not null default now(),
    completed_at timestamptz(3),
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    constraint sync_sessions_status_check check (status in ('PENDING', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED')),
    constraint sync_sessions_session_id_unique unique (session_id),
    constraint sync_sessions_user_id_foreign foreign key (user_id) references users on delete cascade,
    constraint sync_sessions_device_id_foreign foreign key (device_id) references devices on delete cascade);
  create index sync_sessions_device_id_index on sync_sessions (device_id);
  create index sync_sessions_user_id_id_index on sync_sessions (user_id, id);
  create index sync_sessions_status_initiated_at_index on sync_sessions (status, initiated_at)`,
  `create table device_syncs (
    device_id int not null,
    asset_id int not null,
    last_synced_at timestamptz(3) not null,
    is_untracked boolean not null default false,
    primary key (device_id, asset_id),
    constraint device_syncs_device_id_foreign foreign key (device_id) references devices on update cascade on delete cascade,
    constraint device_syncs_asset_id_foreign foreign key (asset_id) references assets on update cascade on delete cascade);
  create index device_syncs_asset_id_index on device_syncs (asset_id)`,
  `create table sync_bases (
    device_id int not null,
    rom_id int not null,
    kind text not null,
    key text not null,
    sha1 text not null,
    content_hash text,
    updated_at timestamptz(3) not null default now(),
    primary key (device_id, rom_id, kind, key),
    constraint sync_bases_kind_check check (kind in ('save', 'state', 'screenshot')),
    constraint sync_bases_device_id_foreign foreign key (device_id) references devices on delete cascade);
  create index sync_bases_rom_id_index on sync_bases (rom_id)`,
  `create table play_sessions (
    id serial primary key,
    user_id int not null,
    device_id int,
    rom_id int,
    sync_session_id int,
    identity text not null,
    save_slot text,
    start_time timestamptz(3) not null,
    end_time timestamptz(3) not null,
    duration_ms bigint not null default '0',
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    constraint play_sessions_user_id_identity_unique unique (user_id, identity),
    constraint play_sessions_user_id_foreign foreign key (user_id) references users on delete cascade,
    constraint play_sessions_device_id_foreign foreign key (device_id) references devices on delete set null,
    constraint play_sessions_sync_session_id_foreign foreign key (sync_session_id) references sync_sessions on delete set null);
  create index play_sessions_device_id_index on play_sessions (device_id);
  create index play_sessions_sync_session_id_index on play_sessions (sync_session_id);
  create index play_sessions_user_id_start_time_index on play_sessions (user_id, start_time);
  create index play_sessions_rom_id_user_id_index on play_sessions (rom_id, user_id)`,
  `create table activity_entries (
    user_id int not null,
    device_id int not null,
    rom_id int not null,
    socket_id text,
    started_at timestamptz(3) not null default now(),
    expires_at timestamptz(3) not null,
    primary key (user_id, device_id),
    constraint activity_entries_user_id_foreign foreign key (user_id) references users on update cascade on delete cascade,
    constraint activity_entries_device_id_foreign foreign key (device_id) references devices on update cascade on delete cascade,
    constraint activity_entries_rom_id_foreign foreign key (rom_id) references roms on delete cascade);
  create index activity_entries_device_id_index on activity_entries (device_id);
  create index activity_entries_rom_id_index on activity_entries (rom_id)`,
  `create table device_presences (
    socket_id text primary key,
    device_id int not null,
    expires_at timestamptz(3) not null,
    constraint device_presences_device_id_foreign foreign key (device_id) references devices on delete cascade);
  create index device_presences_device_id_index on device_presences (device_id)`,
  `create table install_requests (
    id uuid default gen_random_uuid() primary key,
    user_id int not null,
    device_id int not null,
    rom_id int not null,
    file_ids int[] not null default '{}',
    status text not null default 'pending',
    reason text,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    constraint install_requests_status_check check (status in ('pending', 'taken', 'done', 'already_installed', 'failed', 'cancelled')),
    constraint install_requests_user_id_foreign foreign key (user_id) references users on delete cascade,
    constraint install_requests_device_id_foreign foreign key (device_id) references devices on delete cascade,
    constraint install_requests_rom_id_foreign foreign key (rom_id) references roms on delete cascade);
  create index install_requests_rom_id_index on install_requests (rom_id);
  create index install_requests_device_id_created_at_index on install_requests (device_id, created_at);
  create unique index install_requests_live_unique on install_requests (user_id, device_id, rom_id) where status in ('pending', 'taken');
  create index install_requests_user_id_index on install_requests (user_id)`,
  `create table netplay_rooms (
    id text primary key,
    name text not null,
    game_id text not null,
    domain text,
    password_mark text,
    max_players int not null,
    created_at timestamptz(3) not null default now());
  create index netplay_rooms_game_id_index on netplay_rooms (game_id)`,
  `create table netplay_players (
    id serial primary key,
    room_id text not null,
    socket_id text not null,
    player_id text not null,
    player_name text not null,
    worker text not null,
    constraint netplay_players_socket_id_unique unique (socket_id),
    constraint netplay_players_room_id_player_id_unique unique (room_id, player_id),
    constraint netplay_players_room_id_foreign foreign key (room_id) references netplay_rooms on delete cascade)`,
  `create table streaming_sessions (
    container text primary key,
    claim uuid not null,
    user_id int not null,
    device_id int,
    platform text not null,
    rom_id int,
    rom_name text,
    state text not null,
    phase text,
    multiplayer boolean not null default false,
    claimed_at timestamptz(3) not null default now(),
    started_at timestamptz(3),
    seen_at timestamptz(3) not null default now(),
    beats boolean not null default false,
    expires_at timestamptz(3) not null,
    constraint streaming_sessions_state_check check (state in ('launching', 'active', 'draining')),
    constraint streaming_sessions_user_id_foreign foreign key (user_id) references users on delete cascade,
    constraint streaming_sessions_device_id_foreign foreign key (device_id) references devices on delete set null);
  create index streaming_sessions_user_id_platform_index on streaming_sessions (user_id, platform);
  create index streaming_sessions_device_id_index on streaming_sessions (device_id)`,
  `create table streaming_endings (
    user_id int not null,
    platform text not null,
    termination jsonb not null,
    primary key (user_id, platform),
    constraint streaming_endings_user_id_foreign foreign key (user_id) references users on delete cascade)`
]
