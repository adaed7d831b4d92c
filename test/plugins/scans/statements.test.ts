import t, { type Test } from 'tap'
import type { Db } from '../../../core/database/db.ts'
import { ROM_COLUMNS, romColumnsIn } from '../../../plugins/roms/rom-columns.ts'
import { listElsewhere, listKnown } from '../../../plugins/scans/rom-rows.ts'
import { createTableStatistics } from '../../../plugins/scans/store/statistics-rows.ts'
import { openDb } from '../../open-db.ts'
import { shareTestApp } from '../../support.ts'

const fresh = shareTestApp(t)

const ADD = `insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext, crc_hash, md5_hash, sha1_hash)
  select $1, n || '.sfc', 'roms', n::text, n::text, 'c', 'm', lpad(n::text, 40, '0') from generate_series(1, $2::int) n`

/** Stores ROMs without planner statistics, over one connection, whose statistics can then be read. */
async function fill (t: Test, roms: number) {
  const { app } = await fresh(t)
  // Another test file used the database before, and the statistics of deleted rows stay.
  await app.pg.query('truncate roms cascade')
  await app.pg.query('alter table roms set (autovacuum_enabled = false)')
  const { db, close } = await openDb(app.pg.options.connectionString ?? '', 1)
  t.teardown(close)
  const { rows: [platform] } = await db.query<{ id: number }>(
    "insert into platforms (slug, fs_slug, name) values ('snes', 'snes', 'SNES') returning id")
  const id = platform?.id ?? 0
  await db.query(ADD, [id, roms])
  return { db, id }
}

async function countScans (db: Db): Promise<number> {
  await db.query('select pg_stat_force_next_flush()')
  const { rows: [row] } = await db.query<{ scans: number }>(
    "select seq_scan::int as scans from pg_stat_user_tables where relname = 'roms'")
  return row?.scans ?? 0
}

async function readSize (db: Db): Promise<number> {
  const { rows: [row] } = await db.query<{ size: number }>("select reltuples as size from pg_class where oid = 'roms'::regclass")
  return row?.size ?? 0
}

t.test('moved ROMs are looked up by the index even without planner statistics', async (t) => {
  const { db, id } = await fill(t, 5_000)
  const sums = Array.from({ length: 500 }, (_none, index) => String(4_900 + index).padStart(40, '0'))
  const before = await countScans(db)
  const found = await listElsewhere(db, { id: id + 1, library_id: 1 }, [...sums, ...sums])
  t.equal(found.length, 101, 'each once')
  t.equal(await countScans(db), before)
  t.strictSame(await listElsewhere(db, { id, library_id: 1 }, sums), [], 'those of the platform itself have not moved')
})

t.test('known ROMs list the providers that matched them, without linked ids', async (t) => {
  const { db, id } = await fill(t, 3)
  const { rows: [rom] } = await db.query<{ id: number }>("select id from roms where fs_name = '2.sfc'")
  await db.query(`insert into rom_matches (rom_id, provider, provider_id, match)
    values ($1, 'igdb', '1', '{}'), ($1, 'moby', '2', '{"is_linked": true}'), ($1, 'ss', '3', '{}')`, [rom?.id])
  const known = await listKnown(db, { id, library_id: 1 }, { startedAt: new Date(), since: new Date(), type: 'update' })
  t.strictSame(new Map(known.map(({ fs_name: name, providers }) => [name, providers.sort()])),
    new Map([['1.sfc', []], ['2.sfc', ['igdb', 'ss']], ['3.sfc', []]]))
})

t.test('known ROMs of a quick scan have the facts of their file, and no matches', async (t) => {
  const { db, id } = await fill(t, 3)
  const day = (number: number) => new Date(Date.UTC(2020, 0, number))
  await db.query("update roms set created_at = $1::timestamptz + (fs_name_no_ext || ' days')::interval", [day(1)])
  await db.query(`insert into rom_files (rom_id, file_name, file_path, file_size_bytes, last_modified, inode)
    select id, fs_name, case fs_name when '3.sfc' then 'roms/3.sfc' else 'roms' end, 7, to_timestamp(1577836800.0014), '5' from roms`)
  await db.query("insert into rom_matches (rom_id, provider, provider_id, match) select id, 'igdb', id, '{}' from roms")
  const known = await listKnown(db, { id, library_id: 1 }, { startedAt: day(4), since: day(3), type: 'quick' })
  const facts = 'file 7 1577836800001 5'
  t.match(known.toSorted((a, b) => a.fs_name < b.fs_name ? -1 : 1), [
    { is_fresh: false, is_unfinished: false, providers: [], fresh_files: 0, file_facts: facts },
    { is_fresh: false, is_unfinished: true, providers: ['igdb'], fresh_files: 0, file_facts: facts },
    { is_fresh: true, is_unfinished: false, providers: ['igdb'], fresh_files: 1, file_facts: null }
  ])
})

t.test('ANALYZE covers the columns of lookups and no others', async (t) => {
  const { db } = await fill(t, 3_000)
  const statistics = createTableStatistics(db, { warn: () => {} })
  statistics.added(3_000)
  await statistics.finish()
  const { rows } = await db.query<{ column: string }>(
    "select attname as column from pg_stats where tablename = 'roms' and schemaname = 'public' order by 1")
  t.strictSame(rows.map(({ column }) => column), ['fs_name', 'id', 'library_id', 'platform_id', 'sha1_hash'])
})

t.test('ANALYZE runs for a table that a scan made much larger, and for no other', async (t) => {
  const { db } = await fill(t, 3_000)
  const complaints: unknown[] = []
  const log = { warn: (...said: unknown[]) => { complaints.push(said) } }
  const first = createTableStatistics(db, log)
  first.added(1_000)
  await first.finish()
  t.ok(await readSize(db) < 3_000)
  first.added(1_500)
  await first.finish()
  t.equal(await readSize(db), 3_000)
  await db.query('delete from roms where id in (select id from roms limit 100)')
  const second = createTableStatistics(db, log)
  second.added(2_500)
  await second.finish()
  t.equal(await readSize(db), 3_000, 'a few more than are known are not looked for')
  t.strictSame(complaints, [])
})

t.test('the table of ROM columns names every column of the database with its type', async (t) => {
  const { app } = await fresh(t)
  const { rows: stored } = await app.pg.query<{ name: string, type: string }>(
    `select column_name as name, udt_name::regtype::text as type from information_schema.columns
    where table_schema = 'public' and table_name = 'roms' order by 1`)
  const { rows: listed } = await app.pg.query<{ name: string, type: string }>(
    'select key as name, (value ->> \'sql\')::regtype::text as type from jsonb_each($1::jsonb) order by 1',
    [JSON.stringify(ROM_COLUMNS)])
  t.strictSame(listed, stored)
})

t.test('a scan, a merge or an edit writes every column that the database does not fill', (t) => {
  const byOthers = Object.entries(ROM_COLUMNS).filter(([, column]) => 'fileOf' in column).map(([name]) => name)
  const written = [...romColumnsIn('entry'), ...romColumnsIn('tags'), ...romColumnsIn('merge'), ...byOthers,
    'platform_id', 'library_id', 'missing_from_fs', 'badges', 'own_fields', 'manual_metadata', 'edits', 'updated_at']
  t.strictSame(Object.keys(ROM_COLUMNS).filter((name) => !written.includes(name)), ['id', 'created_at'])
  t.end()
})
