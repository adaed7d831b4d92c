import type { InjectOptions } from 'fastify'
import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { seedLibrary } from '../../bench/seed-library.ts'
import { virtualId } from '../../../plugins/roms/virtual-collections.ts'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'

/**
 * Enough rows that an index is cheaper by the real costs, and few enough to insert in seconds. The plans equal those of
 * a million rows.
 */
const ROMS = 20_000
const BARE = 'with_total=false&with_char_index=false&with_filter_values=false&with_rom_id_index=false'

const test = await buildTestApp(t, { env: { SVC_DATABASE_POOL_SIZE: '1' } })
const client = new pg.Client({ connectionString: test.databaseUrl })
await client.connect()
t.teardown(() => client.end())
await seedLibrary(client, ROMS, 1)
await client.query(`insert into collections (user_id, name, is_favorite) values (1, 'Favourites', true);
  insert into collection_roms (collection_id, rom_id) select 1, id from roms where id % 100 = 0;
  insert into smart_collections (user_id, name, filter_criteria) values (1, 'Zero', '{"franchises": ["Zero"]}');
  insert into rom_files (rom_id, file_name, file_path, last_modified, category, track_meta)
    select id, id || '.mp3', fs_path, now(), 'soundtrack', jsonb_build_object('title', name, 'artist', slug, 'album', null, 'genre',
      'Folk', 'year', 1990 + id % 30, 'track', 1, 'disc', null, 'duration_seconds', id % 300, 'has_embedded_cover', false, 'cover_path', null) from roms where id % 20 = 0;
  insert into music_playlists (user_id, name) values (1, 'Calm');
  insert into music_playlist_tracks (playlist_id, file_id, position) select 1, id, id from rom_files where track_meta is not null and id % 3 = 0;
  insert into music_favorites (user_id, file_id) select 1, id from rom_files where track_meta is not null and id % 5 = 0;
  analyze rom_files`)
// Flush the statistics, because reads of this connection would otherwise be counted some time later.
await client.query('select pg_stat_force_next_flush()')
const FRANCHISE = virtualId({ type: 'franchise', name: 'Zero' })

/** A connection at work would count its scan later, and leave the flush to another one. */
const isIdle = async () => (await client.query(`select from pg_stat_activity
  where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`)).rowCount === 0

/** Counts the sequential scans of a table. */
async function countScans (table: string): Promise<number> {
  await until(isIdle, 'no statement runs')
  const flush = sql`select pg_stat_force_next_flush()`
  const all = [test.app.db, test.app.longReads, test.app.longReads]
  await Promise.all(all.map((db) => flush.execute(db)))
  const { rows: [row] } = await client.query<{ scans: string }>('select seq_scan as scans from pg_stat_user_tables where relname = $1', [table])
  return Number(row?.scans)
}

/** Counts the sequential scans of a table that a request causes. */
async function scansOf (path: string, { table = 'roms', ...more }: InjectOptions & { table?: string } = {}): Promise<number> {
  const before = await countScans(table)
  const reply = await test.app.inject({ url: `/api/${path}`, ...more, headers: { ...test.admin, ...more.headers } })
  if (reply.statusCode >= 300) throw new Error(`${path}: ${reply.body}`)
  return await countScans(table) - before
}

const HOT = [
  `roms?${BARE}`, `roms?${BARE}&platform_ids=3`, `roms?${BARE}&order_dir=desc`, `roms?${BARE}&order_by=id`,
  ...['created_at', 'updated_at', 'fs_size_bytes', 'average_rating', 'first_release_date'].flatMap((order) => ['asc', 'desc'].map((dir) => `roms?${BARE}&order_by=${order}&order_dir=${dir}`)),
  'roms/identifiers', 'roms/random', 'roms/random?platform_ids=5', `roms?${BARE}&offset=15000`,
  `roms?${BARE}&search_term=dragon+castle`, `roms?${BARE}&search_term=nothing+like+this`, `roms?${BARE}&search_term=4005`,
  `roms?${BARE}&search_term=c4ca4238a0b923820dcc509a6f75849b`,
  `roms?${BARE}&tags=Hack`, `roms?${BARE}&companies=Harbor+Works+7`, `roms?${BARE}&franchises=Zero&collections=Amber`,
  `roms?${BARE}&statuses=finished`, `roms?${BARE}&has_saves=true`, `roms?${BARE}&order_by=last_played`,
  `roms?${BARE}&updated_after=2999-01-01T00:00:00Z`,
  `roms?${BARE}&collection_id=1`, `roms?${BARE}&favorite=true`, `roms?${BARE}&virtual_collection_id=${FRANCHISE}`,
  `roms?${BARE}&smart_collection_id=1`, 'collections', 'collections/1', 'collections/smart/1', 'roms/random?collection_id=1',
  'music/tracks', 'music/tracks?search=dragon&order_by=platform', 'music/artists', 'music/years?order_by=value', 'music/favorites',
  'music/playlists', 'music/playlists/1/tracks', 'roms/7', 'roms/7/simple', 'roms/by-hash?md5_hash=c4ca4238a0b923820dcc509a6f75849b', 'roms/by-metadata-provider?igdb_id=5'
]

t.test('frequent requests use an index', async (t) => {
  for (const path of HOT) t.equal(await scansOf(path), 0, path)
})

t.test('lists read data of all ROMs from an index, for callers with limits too', async (t) => {
  const limited = await test.createUser('alice')
  await client.query("update users set age_limit = 12 where username = 'alice'")
  const paths = ['roms?with_filter_values=false', 'platforms', ...['missing=true', 'missing=false', 'has_soundtrack=true', 'library_ids=1', 'duplicate=true',
    'group_by_meta_id=true'].map((query) => `roms?${BARE}&${query}`)]
  for (const headers of [test.admin, limited]) {
    for (const path of paths) t.equal(await scansOf(path, { headers }), 0, path)
  }
})

/** Counts the lookups in the indexes of a table. */
const countLookups = async (table: string): Promise<number> => Number((await client.query<{ scans: string }>(
  'select idx_scan as scans from pg_stat_user_tables where relname = $1', [table])).rows[0]?.scans)

t.test('an order by provider ids uses an index instead of a lookup per ROM', async (t) => {
  const before = await countLookups('rom_matches')
  t.equal(await scansOf(`roms?${BARE}&order_by=igdb_id`, { table: 'rom_matches' }), 0)
  t.ok(await countLookups('rom_matches') - before < ROMS / 10)
})

t.test('a search of several words reads the index of names once', async (t) => {
  const select = "select idx_scan::int as scans from pg_stat_user_indexes where indexrelname = 'rom_names_trigrams'"
  const countIndexScans = async () => (await client.query<{ scans: number }>(select)).rows[0]?.scans
  const before = await countIndexScans()
  t.equal(await scansOf(`roms?${BARE}&search_term=silver+tactics+2`), 0)
  t.equal(await countIndexScans(), (before ?? NaN) + 1)
  await scansOf('roms?search_term=%23q')
  t.equal(await countIndexScans(), (before ?? NaN) + 1, 'the index has no words of two letters')
})

t.test('a page without files reads no rows of files', async (t) => {
  const before = await countLookups('rom_files')
  t.equal(await scansOf(`roms?${BARE}&offset=100`, { table: 'rom_files' }), 0)
  t.equal(await countLookups('rom_files'), before)
})

t.test('groups and siblings are found without reading matches', async (t) => {
  for (const path of ['roms?group_by_meta_id=true', 'roms?duplicate=true', 'roms?duplicate=false', 'roms?group_by_meta_id=true&duplicate=true&order_by=id']) {
    t.equal(await scansOf(path, { table: 'rom_matches' }), 0, path)
  }
})

t.test('siblings are computed once, with and without grouping', async (t) => {
  const scans = (path: string) => scansOf(`${path}&order_by=platform_id`, { table: 'rom_games' })
  const [grouped, siblings] = [await scans('roms?group_by_meta_id=true'), await scans('roms?duplicate=true')]
  const both = await scans('roms?group_by_meta_id=true&duplicate=true')
  t.ok(both <= grouped + siblings, `${both} and not ${grouped} + ${siblings}`)
})

t.test('queries of virtual collections get the timeout of lists', async () => {
  const select = "select from pg_stat_activity where application_name = 'svc lists' and query like '%string_agg%' and datname = current_database()"
  await until(async () => {
    await client.query("select move_library_version('edits', 0)")
    await test.app.inject({ url: '/api/collections/virtual?type=all&with_rom_ids=true', headers: test.admin })
    return (await client.query(select)).rowCount === 1
  }, 'the connection of lists made them')
})

t.test('an upload checks by an index whether its platform has ROMs', async (t) => {
  await client.query('update roms set missing_from_fs = true where platform_id = 1')
  const headers = {
    'x-upload-platform': '1', 'x-upload-filename': 'New.zip', 'x-upload-total-size': '3', 'x-upload-total-chunks': '1'
  }
  t.equal(await scansOf('roms/upload/start', { method: 'POST', headers }), 0)
})

t.test('values of the whole library are computed once', async (t) => {
  const whole = ['roms', 'roms?group_by_meta_id=true', 'roms?duplicate=true', 'roms?duplicate=false', 'roms?order_by=fs_size_bytes', 'roms?matched=false',
    'roms?has_soundtrack=true', 'collections/virtual?type=all', `collections/virtual/${FRANCHISE}`, 'roms/filters', 'platforms', 'platforms/identifiers', 'platforms/3']
  for (const path of whole) await scansOf(path)
  for (const path of whole) t.equal(await scansOf(path), 0, path)
})
