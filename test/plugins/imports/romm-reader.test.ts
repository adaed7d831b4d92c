import { rm, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import t from 'tap'
import { FileAbsentError, type ImporterSettings } from '../../../plugins/imports/contract.ts'
import { openRomm } from '../../../plugins/imports/romm/open.ts'
import { parseTime, readValues } from '../../../plugins/imports/romm/values.ts'
import { DUMP_STYLES, renderRommDump } from './fixtures/romm-dump.ts'
import { createRommDatabase, writeRommFiles } from './fixtures/romm-postgres.ts'
import { ROMM_DEVICE, ROMM_PASSWORD_HASH, ROMM_TOKEN_HASH, ROWS_4, ROWS_5 } from './fixtures/romm-rows.ts'
import { ROMM_4, ROMM_5 } from './fixtures/romm-schema.ts'
import { until } from '../../until.ts'
import { createContext, listAll, readFile } from './support.ts'

t.test('a time is read in UTC with its offset, and a day that does not exist is none', async (t) => {
  const times: [text: string, time: string | undefined][] = [
    ['2026-03-29 02:30:00', '2026-03-29T02:30:00Z'], ['2026-03-29T02:30:00.120000+00', '2026-03-29T02:30:00.12Z'],
    ['2026-01-01 00:30:00+05:30', '2025-12-31T19:00:00Z'], ['2026-12-31 22:00:00-03', '2027-01-01T01:00:00Z'],
    ['1899-12-31 00:53:28+00:53:28', '1899-12-31T00:00:00Z'], ['2026-01-01 00:00:00.000', '2026-01-01T00:00:00Z'],
    ['2026-02-30 00:00:00', undefined], ['0000-00-00 00:00:00', undefined], ['2026-01-01 24:00:00', undefined], ['2026-01-01', undefined]
  ]
  for (const [text, time] of times) t.equal(parseTime(text), time, text)
})

t.test('a list of texts has no other values, and an object is no list', async (t) => {
  const odd: string[] = []
  const values = readValues({ list: '["a", "", 1, null, {}, "b"]', object: '{"a": 1}', text: '"x"', broken: '{' }, (column) => { odd.push(column) })
  t.strictSame(values.texts('list'), ['a', 'b'])
  t.strictSame([values.texts('object'), values.texts('text'), values.object('object')], [[], [], { a: 1 }])
  t.strictSame([values.object('list'), values.object('text'), values.object('broken')], [null, null, null])
  t.strictSame(odd, ['list', 'text', 'broken'])
})

t.test('RomM 5.2 in PostgreSQL', async (t) => {
  const folder = t.testdir({ work: {}, romm: {} })
  await writeRommFiles(`${folder}/romm`)
  const url = await createRommDatabase(t, ROMM_5, ROWS_5)
  const context = createContext(`${folder}/work`)
  const importer = await openRomm({ database_url: url, base_path: `${folder}/romm` }, context)
  t.teardown(() => importer.close())
  const all = await listAll(importer)

  t.equal(importer.title, 'RomM 5.2 (0107) in PostgreSQL')
  t.match(importer.identity, /^romm:[0-9a-f]{16}$/)
  t.strictSame(importer.absent, {})

  t.test('a former role is a group here only while its grants are unchanged', async (t) => {
    t.strictSame(all.group.map(({ name }) => name), ['Editor (legacy)', 'Kids'])
    t.match(all.user, [
      { username: 'admin', role: 'admin', group_id: null, group_name: null },
      { username: 'bob', role: 'user', group_id: null, group_name: 'Members' },
      { username: "o'hara\\", role: 'user', group_id: '3', group_name: null }
    ])
  })

  t.test('an account keeps its hash, its settings and what only it may do', async (t) => {
    const [admin, bob, ohara] = all.user
    t.match(admin, {
      id: '1', password_hash: ROMM_PASSWORD_HASH, is_enabled: true, ra_username: 'adminRA', ui_settings: { theme: 'dark' },
      last_login: '2026-03-01T10:00:00Z', created_at: '2026-03-01T10:00:00Z', updated_at: '2026-03-02T11:30:15.25Z'
    })
    t.match(bob, { email: null, password_hash: null, avatar: null, ra_username: null, ui_settings: null })
    t.match(ohara, { is_enabled: false, overrides: [{ entity: 'roms', action: 'delete', own_only: false, is_granted: true }] })
    t.strictSame(all.hidden, [
      { entity: 'platforms', entity_id: '4', user_id: '3', group_id: null },
      { entity: 'roms', entity_id: '11', user_id: null, group_id: '3' }
    ])
  })

  t.test('a ROM has its files, ids, hand edits and media', async (t) => {
    const [chrono, discs] = all.rom
    t.match(chrono, {
      id: '10', platform_id: '3', fs_name: 'Chrono (USA).sfc', fs_size_bytes: 5_000_000_000, sha1: null,
      name: 'Chrono “Élan” 🎮', summary: 'First line\nSecond\tline \\ with \'quotes\'',
      files: [{ id: '100', path: 'Chrono (USA).sfc', size_bytes: 5_000_000_000, crc: 'deadbeef' }],
      locked: ['name', 'summary'],
      cover: { file: { path: 'resources/roms/3/10/cover/big.png' }, url: null },
      screenshots: [{ file: { path: 'resources/roms/3/10/screenshots/0.jpg' }, url: 'https://igdb.example/0.jpg' }]
    })
    t.strictSame(chrono?.provider_ids, { igdb: '1802', ra: '319', gamelist: '007' }, 'an id of 0 is none')
    t.strictSame(chrono?.manual_metadata, { genres: ['Role-playing'] }, 'empty lists are no edits')
    t.strictSame(chrono?.media, { box3d: { file: { path: 'resources/roms/3/10/box3d/box3d.png', size_bytes: null }, url: 'https://ss.example/3d' } })
    t.match(discs, {
      name: null, fs_size_bytes: null, manual_metadata: null, locked: [], cover: null, media: {}, provider_ids: {},
      files: [{ path: 'disc 1.chd' }, { path: 'soundtrack/01 Intro.mp3' }]
    })
  })

  t.test('marks, notes, devices, sessions and tokens are listed', async (t) => {
    t.match(all.mark, [
      { rom_id: '10', user_id: '1', status: 'completed_100', rating: 9, last_played: '2026-02-03T04:05:06.789Z' },
      { rom_id: '11', user_id: '2', status: null, hidden: true }
    ])
    t.match(all.note, [{ title: 'Boss', content: 'Use fire.', tags: ['tips'] }])
    t.equal(all.note.length, 1, 'a note without content is skipped')
    t.match(all.device, [{
      id: ROMM_DEVICE, device_id: ROMM_DEVICE, sync_mode: 'push_pull', mac_address: null, sync_config: { ssh_password: 'hunter2' }
    }])
    t.match(all.device_sync, [{ device_id: ROMM_DEVICE, asset_id: '7', last_synced_at: '2026-03-01T10:00:00Z' }])
    t.match(all.sync_session, [{ status: 'in_progress', operations_planned: 3 }])
    t.match(all.play_session, [{ duration_ms: 3_906_789, end_time: '2026-02-03T04:05:06.789Z' }])
    t.match(all.token, [{ token_hash: ROMM_TOKEN_HASH, scopes: ['roms.read', 'assets.read', 'assets.write'] }])
  })

  t.test('assets come saves first, and files whose row was dropped last', async (t) => {
    t.match(all.asset, [
      { kind: 'save', id: '7', rom_id: '10', slot: 'main', md5: '0f7c66e61ba24dfcd5681718de694b41', device_id: ROMM_DEVICE },
      { kind: 'save', id: '8', file_name: 'gone.srm', emulator: null },
      { kind: 'state', id: '7', rom_fs_name: 'Chrono (USA).sfc', platform_fs_slug: 'snes' },
      { kind: 'screenshot', id: '7' },
      { kind: 'save', rom_id: null, user_id: '2', platform_fs_slug: 'snes', file_name: 'Lost.srm', emulator: 'snes9x' }
    ])
    const [save, gone, , , stray] = all.asset
    t.equal(await readFile(importer, save?.file), 'save of chrono')
    t.equal(await readFile(importer, stray?.file), 'a save without a row')
    await t.rejects(readFile(importer, gone?.file), FileAbsentError)
  })

  t.test('collections, playlists and favourite tracks name ROMs and files', async (t) => {
    t.match(all.collection, [
      { name: 'Best', rom_ids: ['10', '11'], is_favorite: false, cover: { file: { path: 'resources/collections/1/cover/big.png' } } },
      { name: 'favourites', rom_ids: ['10'], is_favorite: true, cover: null }
    ])
    t.match(all.smart_collection, [{ filter_criteria: { genres: ['Role-playing'] } }])
    t.match(all.playlist, [{
      tracks: [{ rom_id: '11', path: 'disc 1.chd' }, { rom_id: '11', path: 'soundtrack/01 Intro.mp3' }]
    }])
    t.match(all.favorite_track, [{ user_id: '1', track: { rom_id: '11', path: 'soundtrack/01 Intro.mp3' } }])
  })

  t.test('a hidden entity of another kind is skipped and reported', async (t) => {
    t.match(context.skipped, [{ kind: 'hidden', id: '3', reason: /firmware/ }])
  })
})

t.test('RomM 4.0 with hardly a value set', async (t) => {
  const folder = t.testdir({ work: {}, romm: {} })
  const url = await createRommDatabase(t, ROMM_4, ROWS_4)
  const context = createContext(`${folder}/work`)
  const importer = await openRomm({ database_url: url.replace('postgres:', 'postgresql+psycopg:'), base_path: `${folder}/romm` }, context)
  t.teardown(() => importer.close())
  const all = await listAll(importer)

  t.match(importer.title, 'RomM 4.0 (0045)')
  t.match(importer.absent, { device: 'RomM 4.0 has no table devices', token: String, play_session: String, group: String })
  t.match(all.user, [
    { username: 'root', role: 'admin', group_name: null },
    { username: 'ed', role: 'user', group_name: 'Editors', password_hash: null },
    { username: 'vi', role: 'user', group_name: 'Members', created_at: null }
  ], 'roles become groups')
  t.match(all.note, [{ id: 'rom_user:1', title: 'My Note', content: 'old note', is_public: true }], 'notes were columns of marks')
  t.match(all.mark, [{ rating: 10, completion: 0 }, { rating: 0, is_main_sibling: false }], 'values are kept in their range')
  t.match(all.collection, [{ is_favorite: true, rom_ids: ['2'] }], 'favourites were known by their name')
  t.match(all.asset, [{ id: '1', rom_id: '1', emulator: null, slot: null }, { id: '2', rom_id: null, rom_fs_name: null }])
  await t.rejects(readFile(importer, all.asset[0]?.file), FileAbsentError, 'a path that leaves its folder is absent')
  t.match(context.skipped, [
    { kind: 'user', id: '7', name: 'lost', reason: /role/ }, { kind: 'platform', id: '2', reason: /fs_slug/ }
  ])
})

t.test('dumps', async (t) => {
  const folder = t.testdir({ romm: {}, ...Object.fromEntries(DUMP_STYLES.map((style) => [style, {}])) })
  await writeRommFiles(`${folder}/romm`)
  for (const [tables, rows] of [[ROMM_4, ROWS_4], [ROMM_5, ROWS_5]] as const) {
    const url = await createRommDatabase(t, tables, rows)
    const read = async (settings: ImporterSettings, work: string) => {
      const context = createContext(`${folder}/${work}`)
      const importer = await openRomm({ ...settings, base_path: `${folder}/romm` }, context)
      const all = await listAll(importer)
      await importer.close()
      const { title, identity, absent } = importer
      return { all, title, identity, absent, skipped: context.skipped }
    }
    const { title, ...expected } = await read({ database_url: url }, 'romm')
    for (const style of DUMP_STYLES) {
      const path = `${folder}/${style}/dump.sql.gz`
      await writeFile(path, gzipSync(renderRommDump(style, tables, rows)))
      const actual = await read({ dump: path }, style)
      const program = style === 'mysqldump' ? 'MariaDB or MySQL' : 'PostgreSQL'
      t.equal(actual.title, title.replace(/in .*/, `in a dump of ${program}`))
      t.strictSame({ ...actual, title }, { ...expected, title }, `${style} gives the records of the database`)
      await rm(`${folder}/${style}/dump.sqlite`)
    }
  }
  const cut = renderRommDump('mysqldump', ROMM_5, ROWS_5).replace(/-- Dump completed.*/s, '')
  await writeFile(`${folder}/cut.sql`, cut)
  await t.rejects(openRomm({ dump: `${folder}/cut.sql` }, createContext(`${folder}/mysqldump`)), /ends before its last line/)
})

t.test('values that are not understood are left out and reported once by column', async (t) => {
  const folder = t.testdir({
    'odd.sql': `CREATE TABLE \`alembic_version\` (\`version_num\` varchar(32));
      INSERT INTO \`alembic_version\` VALUES ('0107_x');
      CREATE TABLE \`users\` (\`id\` int(11), \`username\` text, \`role\` text, \`enabled\` tinyint(1), \`ui_settings\` longtext, \`created_at\` timestamp);
      INSERT INTO \`users\` VALUES (2,'b','admin',7,'{\\"a\\":','0000-00-00 00:00:00'),(1,'a\\0','user',1,'[1]','2026-02-30 10:00:00'),(10,'c','user',1,'null','2026-03-29 02:30:00');
      CREATE TABLE \`permission_groups\` (\`id\` int(11), \`name\` text);
      INSERT INTO \`permission_groups\` VALUES (1,NULL);
      CREATE TABLE \`roms\` (\`id\` int(11));`,
    work: {}
  })
  const context = createContext(`${folder}/work`)
  const importer = await openRomm({ dump: `${folder}/odd.sql` }, context)
  t.teardown(() => importer.close())
  t.strictSame(await Array.fromAsync(importer.list('group')), [])
  const users = [...await Array.fromAsync(importer.list('user')), ...await Array.fromAsync(importer.list('user'))]
  t.match(users.map(({ id }) => id), ['2', '10', '2', '10'], 'ids are ordered as numbers')
  t.match(users.slice(0, 2), [
    { username: 'b', is_enabled: false, ui_settings: null, created_at: null },
    { username: 'c', ui_settings: null, created_at: '2026-03-29T02:30:00Z' }
  ])
  t.match(context.skipped, [
    { kind: 'group', id: '1', reason: 'its name is missing or not understood' },
    { kind: 'user', id: '1', reason: 'its username is missing or not understood' }, { kind: 'user', id: '1' }
  ], 'a list reports only records of its own kind')
  t.strictSame(context.warnings.toSorted(), [
    'users.created_at: 1 value is not understood and left out, the first in the row "2"',
    'users.enabled: 1 value is not understood and left out, the first in the row "2"',
    'users.ui_settings: 1 value is not understood and left out, the first in the row "2"',
    'users.username: 1 value is not understood and left out, the first in the row "1"'
  ])
})

t.test('versions', async (t) => {
  const context = createContext(t.testdir())
  const url = await createRommDatabase(t, ROMM_4, ROWS_4)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  const open = async (version: string) => {
    await client.query('update alembic_version set version_num = $1', [version])
    const importer = await openRomm({ database_url: url }, context)
    await importer.close()
    return importer.title
  }
  await t.rejects(open('0044_hashless'), /revision 0044.*older than RomM 4\.0.*Update RomM/s, 'a database before 4.0 is refused')
  await t.rejects(open('1a2b3c4d'), /unknown revision "1a2b3c4d"/, 'a revision of a pre-release is refused')
  t.match(await open('0120_audit_events'), 'newer than 5.2')
  t.match(context.warnings, [/revision 0120, which is newer/], 'a newer database is read with a warning')
  const cancelled = createContext(t.testdir())
  const importer = await openRomm({ database_url: url }, cancelled)
  cancelled.abort()
  await t.rejects(Array.fromAsync(importer.list('rom')), /cancelled/, 'a cancelled import reads nothing more')
  await importer.close()
  const waiting = createContext(t.testdir())
  const blocked = await openRomm({ database_url: url }, waiting)
  await client.query('begin; lock table roms in access exclusive mode')
  const reading = Array.fromAsync(blocked.list('rom'))
  // Other processes of tests use the same PostgreSQL server.
  const isWaiting = async () => (await client.query(`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`)).rowCount === 1
  await until(isWaiting, 'the import waits for the table')
  waiting.abort()
  await t.rejects(reading, /cancelled/, 'an import that waits for the database can be cancelled')
  await blocked.close()
  await client.query('rollback')
  const cut = await openRomm({ database_url: url }, context)
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'svc import'`)
  await t.rejects(Array.fromAsync(cut.list('rom')), /RomM's database at .* failed: .*Import again/, 'a lost connection is named')
  await cut.close()
  await client.query('drop table alembic_version')
  await t.rejects(openRomm({ database_url: url }, context), /holds no RomM/)
})

t.test('a database that cannot be reached is named without its password', async (t) => {
  const context = createContext(t.testdir())
  for (const protocol of ['postgresql', 'mariadb']) {
    const url = `${protocol}://romm:s3cret@127.0.0.1:1/romm`
    const failed = await openRomm({ database_url: url }, context).catch((err: unknown) => String(err))
    t.match(failed, /database at 127\.0\.0\.1:1\/romm cannot be read: .*ECONNREFUSED.*Check address/s)
    t.notMatch(failed, 's3cret')
  }
  for (const protocol of ['postgresql', 'mariadb']) {
    const failed = openRomm({ database_url: `${protocol}://romm:100%@127.0.0.1:1/romm` }, context)
    await t.rejects(failed, /Write special characters of user and password as %XX/, 'a password with % names the remedy')
  }
  await t.rejects(openRomm({ database_url: 'sqlite:///romm.db' }, context), /must begin with mariadb/)
  await t.rejects(openRomm({}, context), /none is given/)
})
