import { Migration } from '@mikro-orm/migrations'
import pg from 'pg'
import type { Test } from 'tap'
import { migrate, openOrm } from '../../../core/database/database.ts'
import { migrations } from '../../../plugins/migrations.ts'

/** Data of people in each release, written in the schema of that release, after its last migration. */
const CONTENT: Record<string, readonly string[]> = {
  '20261123100000-initial': [
    "insert into installation (identity) values ('11111111-2222-4333-8444-555555555555')",
    "insert into libraries (id, name, root) values (1, 'Games', '/srv/games')",
    "insert into platforms (slug, fs_slug, name, custom_name) values ('snes', 'snes', 'SNES', 'Super'), ('psx', 'psx', 'PlayStation', null)",
    "insert into platform_folders (platform_id, library_id, fs_inode) values (1, 1, '64769:1234'), (2, 1, null)",
    `insert into roms (platform_id, fs_name, fs_path, fs_extension, fs_name_no_tags, fs_name_no_ext, fs_size_bytes, name, regions, sha1_hash, media, badges)
      values (1, 'Ärger (EU).sfc', 'roms/snes', 'sfc', 'Ärger', 'Ärger (EU)', 524288, 'Ärger', '{EU,"Neu\\\\Land"}', 'aa', '{"video": "v.mp4"}', '{1.png,2.png}'),
      (1, 'Gone.sfc', 'roms/snes', 'sfc', 'Gone', 'Gone', 1, null, '{}', 'bb', '{}', '{}'),
      (2, 'Disc', 'roms/psx', '', 'Disc', 'Disc', 700000000, 'Disc', '{US}', 'cc', '{}', '{}')`,
    `insert into rom_files (rom_id, file_name, file_path, file_size_bytes, last_modified, sha1_hash, category, archive_members, track_meta)
      values (1, 'Ärger (EU).sfc', 'roms/snes', 524288, '2001-02-03 04:05:06.789Z', 'aa', null, '[{"name": "tab\\there"}]', null),
      (3, 'a.flac', 'roms/psx/Disc/soundtrack', 9, '2001-02-03Z', 'dd', 'soundtrack', null, '{"title": "Intro"}'),
      (3, 'b.flac', 'roms/psx/Disc/soundtrack', 9, '2001-02-03Z', 'ee', 'soundtrack', null, null)`,
    "insert into rom_misses (rom_id, explanations) values (3, '{\"igdb\": {\"reason\": \"no_candidate\"}}')",
    `insert into rom_matches (rom_id, provider, provider_id, match)
      values (1, 'igdb', '1234', '{"name": "Ärger", "rating": 87.25}'), (3, 'ss', '7', '{}'), (3, 'playmatch', null, '{"ids": {}}')`,
    "insert into firmware (platform_id, file_name, file_path, file_size_bytes, is_verified) values (2, 'scph1001.bin', 'bios/psx', 524288, true)",
    "insert into permission_groups (name, description, age_limit) values ('Kids', 'Until twelve', 12)",
    `insert into users (username, email, password_hash, role, ui_settings, email_confirmed, permission_group_id)
      values ('grandma', 'g@example.org', '$argon2id$x', 'admin', '{"theme": "dark"}', true, null),
      ('kid', null, '$argon2id$y', 'user', null, false, (select id from permission_groups where name = 'Kids'))`,
    "insert into provider_accounts (user_id, provider, settings) values (2, 'ra', '{\"ra_username\": \"Kid\"}')",
    "insert into devices (user_id, name, client, client_version, sync_mode) values (1, 'Deck', 'app', '1.2', 'push_pull'), (2, 'Old', null, null, 'pull_only')",
    "insert into sessions (token_hash, user_id, device_id, expires_at) values ('session', 1, 1, '2031-01-01Z')",
    "insert into client_tokens (user_id, name, token_hash, scopes) values (1, 'handheld', 'token', '{roms.read,assets.write}')",
    "insert into pairing_codes (code_hash, token_id, expires_at) values ('code', 1, '2031-01-01Z')",
    "insert into audit_events (event, user_id, username, details) values ('login', 1, 'grandma', '{\"way\": \"password\"}')",
    "insert into deleted_accounts (username, assets, versions) values ('former', '[{\"sha1\": \"x\"}]', '[]')",
    "insert into rom_users (rom_id, user_id, rating, status, hidden) values (1, 1, 9, 'completed_100', false), (2, 2, 3, null, true)",
    "insert into notes (rom_id, user_id, title, content, tags) values (1, 1, 'Cheats', E'first\\nsecond', '{hints}')",
    "insert into collections (user_id, name, is_public) values (1, 'Favourites', true)",
    'insert into collection_roms (collection_id, rom_id) values (1, 1), (1, 3)',
    "insert into smart_collections (user_id, name, filter_criteria) values (1, 'EU', '{\"regions\": [\"EU\"]}')",
    "insert into music_playlists (user_id, name) values (1, 'Slow')",
    'insert into music_playlist_tracks (playlist_id, file_id, position) values (1, 2, 1)',
    'insert into music_favorites (user_id, file_id) values (2, 2)',
    `insert into assets (kind, user_id, rom_id, platform_fs_slug, rom_fs_name, file_name, slot, file_size_bytes, sha1, disk_path)
      values ('save', 1, 1, 'snes', 'Ärger (EU).sfc', 'Ärger.srm', 'autosave', 8192, 'f1', 'users/u/saves/1.srm'),
      ('state', 2, 2, 'snes', 'Gone.sfc', 'Gone.state', null, 9000, 'f2', 'users/v/states/2.state')`,
    "insert into asset_versions (asset_id, file_name, sha1, disk_path, content_updated_at) values (1, 'Ärger.srm', 'f0', 'users/u/saves/0.srm', '2026-01-01Z')",
    "insert into sync_sessions (user_id, device_id, status) values (1, 1, 'COMPLETED')",
    "insert into device_syncs (device_id, asset_id, last_synced_at) values (1, 1, '2026-01-02Z')",
    "insert into sync_bases (device_id, rom_id, kind, key, sha1) values (1, 1, 'save', 'autosave', 'f1')",
    `insert into play_sessions (user_id, device_id, rom_id, identity, start_time, end_time, duration_ms)
      values (1, 1, 1, 'i', '2026-01-01T10:00Z', '2026-01-01T11:00Z', 3600000), (2, 2, 2, 'j', '2026-01-01T10:00Z', '2026-01-01T10:30Z', 1800000)`,
    "insert into install_requests (user_id, device_id, rom_id, status) values (1, 1, 3, 'done')",
    "insert into netplay_rooms (id, name, game_id, max_players) values ('r', 'Room', '1', 2)",
    "insert into streaming_endings (user_id, platform, termination) values (1, 'psx', '{\"reason\": \"x\"}')",
    "insert into tasks (id, title, type, status, payload) values ('00000000-0000-4000-8000-000000000001', 'Scan', 'scan', 'finished', '{\"type\": \"quick\"}')",
    "insert into notifications (user_id, kind, level, title, actor_id) values (1, 'scan', 'success', 'Done', 2)",
    "insert into notification_channels (user_id, type, name, sealed) values (1, 'webhook', 'phone', 'sealed')",
    "insert into plugin_limits (plugin, limits) values ('igdb', '{\"perSecond\": 4}')",
    "insert into crashed_files (path, size_bytes, modified_ms, reason) values ('roms/x.chd', 1, 2, 'crashed')",
    `insert into rom_uploads (id, user_id, platform_id, fs_path, file_name, total_size, total_chunks)
      values ('00000000-0000-4000-8000-000000000002', 1, 1, 'roms/snes', 'New.sfc', 10, 2)`,
    "insert into rom_upload_chunks values ('00000000-0000-4000-8000-000000000002', 0, 5, false)",
    "insert into rom_conversions (rom_id, platform_id, work_path) values (3, 2, 'roms/psx/.svc-convert-1')",
    // The triggers store a deleted ROM, and the field locks of a ROM.
    'delete from roms where id = 2',
    "update roms set own_fields = '{name}', name = 'My Ärger', edits = 2 where id = 1"
  ],
  '20261123180000-dats': [
    "insert into dats (key, name, version, platform_slugs, game_count, file_count) values ('nintendo', 'Nintendo (1)', '1', '{snes,sfam}', 1, 1)",
    "insert into dat_folder_files (path, file_size_bytes, modified_ms, problem) values ('broken.dat', 3, 4, 'line 1')",
    "insert into dat_games (dat_id, position, name, needed) values (1, 0, 'Ärger (Europe)', 1)",
    `insert into dat_files (dat_id, game, position, name, file_size_bytes, sha1_hash, status, is_needed)
      values (1, 0, 0, 'Ärger (Europe).sfc', 524288, 'aa', 'verified', true)`,
    "insert into dat_matches (dat_id, game, rom_id, is_complete, is_best, expected_name) values (1, 0, 1, true, true, 'Ärger (Europe).sfc')",
    "insert into rom_dumps (rom_id, status, compared_at) values (1, 'misnamed', '2026-01-01Z')"
  ],
  '20261123110000-imports': [
    "insert into imported_ids (source, kind, old_id, new_id) values ('romm:1', 'rom', '10', 1)",
    "insert into import_runs (id, importer, report) values ('00000000-0000-4000-8000-000000000003', 'romm', '{\"status\": \"finished\"}')"
  ],
  '20261123235000-content-devices': [
  ],
  '20261123235500-install-percent': [
    "insert into install_requests (user_id, device_id, rom_id, status, percent) values (1, 1, 1, 'taken', 40)"
  ],
  '20261123240000-content-devices': [
    'update asset_versions set content_device_id = 1 where asset_id = 1'
  ],
  '20261123230000-plugin-settings': [
    "insert into plugin_settings (plugin, sealed) values ('provider/igdb', 'sealed')"
  ],
  '20261128160000-plugin-packages': [
    `insert into plugin_packages (name, version, sha256, tarball, signature) values ('svc-exporter-note', '1.0.0', 'aa', '\\x1f8b', 'signed'),
      ('svc-exporter-former', null, '', null, 'signed')`
  ],
  '20261128210000-shared-settings': [
    "insert into shared_settings (section, sealed, changed_by) values ('scan', 'sealed', 'web1')"
  ],
  '20261123120000-webdav': [
    `insert into webdav_files (user_id, path, folded, asset_id, rom_id, sha1, md5, file_size_bytes)
      values (1, 'saves/Snes9x/Ärger.srm', 'saves/snes9x/Ärger.srm', 1, 1, 'f1', 'm1', 8192)`,
    "insert into webdav_files (user_id, path, folded, disk_path, deleted_at) values (2, 'config/a.cfg', 'config/a.cfg', 'users/v/webdav/a', '2026-02-01Z')",
    "insert into webdav_listings (device_id, file_id, listed, held, misses) values (1, 1, 'f1', 'f0', 1)"
  ],
  '20261130190000-chunk-writes': [
    `insert into rom_upload_writes (id, upload_id, worker_id)
      values ('00000000-0000-4000-8000-000000000004', '00000000-0000-4000-8000-000000000002', 'web1')`
  ]
}

/** A migration of a later release, which only tests know: it adds columns and a table, and changes rows. */
export const LATER = {
  name: '99990101000000-later',
  class: class extends Migration {
    override up (): void {
      this.addSql('create table later_shelves (id serial primary key, rom_id int not null references roms on delete cascade)')
      this.addSql('insert into later_shelves (rom_id) select id from roms')
      this.addSql('alter table roms add column later_rating int not null default 0')
      this.addSql('update roms set later_rating = 1 where own_fields <> \'{}\'')
      this.addSql('alter table firmware add column later_region text')
    }
  }
}

/** Makes this process a later release until the test ends. */
export function addLater (t: Pick<Test, 'teardown'>): void {
  migrations.push(LATER)
  t.teardown(() => { migrations.splice(migrations.indexOf(LATER), 1) })
}

/** Tables that count changes or describe running processes, so a migration changes them. */
const MOVING = ['migrations', 'library_versions', 'library_counts', 'rom_changes']

export const listReleases = () => migrations.map(({ name }) => name)

type Row = Record<string, unknown>
export type Content = Map<string, Row[]>

export async function withConnection<T> (url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => { /* the running statement reports it */ })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export const migrateTo = (url: string, release: string) => migrate({
  url, poolSize: 1, entities: [], migrations: migrations.slice(0, listReleases().indexOf(release) + 1)
})

/** Migrates an empty database release by release, and adds the data of each release. */
export async function liveUpTo (url: string, release: string): Promise<void> {
  const orm = await openOrm({ url, poolSize: 1, entities: [], migrations })
  try {
    await withConnection(url, async (client) => {
      for (const name of listReleases().slice(0, listReleases().indexOf(release) + 1)) {
        const content = CONTENT[name] ?? []
        if (content.length > 0 || name === release) await orm.migrator.up({ to: name })
        for (const sql of content) await client.query(sql)
      }
    })
  } finally {
    await orm.close()
  }
}

export async function readContent (url: string): Promise<Content> {
  return await withConnection(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(`select tablename::text as name from pg_tables
      where schemaname = 'public' and tablename <> all($1) order by 1`, [MOVING])
    const content: Content = new Map()
    for (const { name } of tables) {
      const table = client.escapeIdentifier(name)
      const { rows } = await client.query<{ row: Row }>(`select to_jsonb(x) as row from ${table} x order by to_jsonb(x)::text`)
      content.set(name, rows.map(({ row }) => row))
    }
    return content
  })
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Lists rows that the later database lost: no row equals them in the columns that both have. */
export function listLost (before: Content, after: Content): string[] {
  const lost: string[] = []
  for (const [table, rows] of before) {
    const found = after.get(table) ?? []
    const columns = new Set(found.flatMap((row) => Object.keys(row)))
    for (const row of rows) {
      const kept = Object.entries(row).filter(([column]) => columns.has(column))
      const isKept = (other: Row) => kept.every(([column, value]) => same(other[column], value))
      if (kept.length > 0 && found.some(isKept)) continue
      lost.push(`${table}: ${JSON.stringify(row)}`)
    }
  }
  return lost
}
