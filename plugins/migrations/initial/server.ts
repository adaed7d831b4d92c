/** Tables of the server itself: tasks, notifications, processes and plugins. */
export const server = [
  `create table tasks (
    id uuid primary key,
    task_key text,
    title text not null,
    type text not null,
    status text not null default 'queued',
    payload jsonb not null default '{}',
    meta jsonb not null default '{}',
    lock text,
    cancel_requested boolean not null default false,
    attempts int not null default 0,
    worker_id text,
    error text,
    user_id int,
    created_at timestamptz(3) not null default now(),
    enqueued_at timestamptz(3) not null default now(),
    started_at timestamptz(3),
    ended_at timestamptz(3),
    end_pending boolean not null default false,
    constraint tasks_type_check check (type in ('scan', 'conversion', 'cleanup', 'update', 'sync', 'watcher', 'generic')),
    constraint tasks_status_check check (status in ('queued', 'started', 'deferred', 'scheduled', 'finished', 'failed', 'stopped', 'canceled')));
  create index tasks_status_created_at_index on tasks (status, created_at);
  create unique index tasks_lock_unique on tasks (lock) where status in ('queued', 'started')`,
  `create table notifications (
    id serial primary key,
    user_id int not null,
    kind text not null,
    level text not null,
    title text,
    body text,
    link text,
    icon text,
    data jsonb not null default '{}',
    actor_id int,
    read_at timestamptz(3),
    created_at timestamptz(3) not null default now(),
    constraint notifications_level_check check (level in ('info', 'success', 'warning', 'error')),
    constraint notifications_user_id_foreign foreign key (user_id) references users on delete cascade,
    constraint notifications_actor_id_foreign foreign key (actor_id) references users on delete set null);
  create index notifications_user_id_id_index on notifications (user_id, id);
  create index notifications_actor_id_index on notifications (actor_id)`,
  `create table notification_channels (
    id serial primary key,
    user_id int not null,
    type text not null,
    name text not null,
    enabled boolean not null default true,
    min_level text not null default 'info',
    topics text[],
    sealed text not null,
    confirmed boolean not null default false,
    code_hash text,
    code_expires_at timestamptz(3),
    code_tries int not null default 0,
    last_delivered_at timestamptz(3),
    last_error text,
    consecutive_failures int not null default 0,
    recent_at timestamptz[],
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    constraint notification_channels_min_level_check check (min_level in ('info', 'warning', 'error')),
    constraint notification_channels_user_id_foreign foreign key (user_id) references users on delete cascade);
  create index notification_channels_user_id_index on notification_channels (user_id)`,
  `create table channel_deliveries (
    id bigserial primary key,
    channel_id int not null,
    notification jsonb not null,
    attempts int not null default 0,
    deaths int not null default 0,
    due_at timestamptz(3) not null default now(),
    worker_id text,
    created_at timestamptz(3) not null default now(),
    request_id text,
    constraint channel_deliveries_channel_id_foreign foreign key (channel_id) references notification_channels on delete cascade);
  create index channel_deliveries_channel_id_id_index on channel_deliveries (channel_id, id)`,
  `create table workers (
    id text primary key,
    role text not null,
    started_at timestamptz(3) not null default now(),
    seen_at timestamptz(3) not null default now())`,
  `create table installation (
    id int default 1 primary key,
    identity uuid not null,
    looked_at timestamptz(3))`,
  // Unlogged, because the log need not survive a crash of the database.
  `create unlogged table log_lines (
    id bigserial primary key,
    ts bigint not null,
    level text not null,
    module text not null,
    message text not null)`,
  `create table socket_io_attachments (
    id bigserial primary key,
    created_at timestamptz default now(),
    payload bytea)`,
  `create table plugin_cache (
    plugin text not null,
    key text not null,
    value jsonb not null,
    expires_at timestamptz(3),
    primary key (plugin, key))`,
  `create table plugin_indexes (
    generation serial primary key,
    plugin text not null,
    built_at timestamptz(3));
  create index plugin_indexes_plugin_index on plugin_indexes (plugin)`,
  `create table plugin_limits (
    plugin text primary key,
    limits jsonb,
    allowances jsonb not null default '{}')`,
  `create table plugin_snapshots (
    fingerprint text primary key,
    descriptions jsonb not null,
    worker text,
    reports jsonb not null default '[]',
    stored_at timestamptz(3) not null default now())`
]
