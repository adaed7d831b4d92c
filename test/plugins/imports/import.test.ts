import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Buffer } from 'node:buffer'
import { randomInt, randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import bcrypt from 'bcryptjs'
import t, { type Test } from 'tap'
import sharp from 'sharp'
import { formatReport } from '../../../plugins/imports/report.ts'
import type { ImportReport } from '../../../plugins/imports/schemas.ts'
import type { ImportWish } from '../../../plugins/imports/service.ts'
import { type TestApp, shareTestApp } from '../../support.ts'
import { createRommDatabase, writeRommFiles } from './fixtures/romm-postgres.ts'
import { ROMM_DEVICE, ROMM_PASSWORD, ROMM_TOKEN, ROWS_5 } from './fixtures/romm-rows.ts'
import { ROMM_5 } from './fixtures/romm-schema.ts'
import { createMemoryImporter, make } from './memory-importer.ts'
import { LIBRARY, checkCounts, finish, importRecords, logged, readTables, scan } from './import-support.ts'

const fresh = shareTestApp(t, { worker: true, env: { SVC_TOKEN_PREFIXES: 'rmm_' }, log: (line) => { logged.push(JSON.stringify(line)) } })

/** Runs an import by its task. @returns its report */
async function importBy (test: TestApp, wish: Partial<ImportWish> & Pick<ImportWish, 'importer' | 'settings'>): Promise<ImportReport> {
  const { app } = test
  const task = await app.imports.request({ dry_run: false, user_id: null, ...wish }, null)
  await finish(test, task)
  const { report } = await app.imports.get(app.db, task.id)
  checkCounts(report)
  return report
}

const importRomm = (test: TestApp, settings: Record<string, string>, isDry = false) =>
  importBy(test, { importer: 'romm', settings, dry_run: isDry })

async function createRomm (t: Test): Promise<Record<string, string>> {
  const basePath = t.testdir({ romm: {} }) + '/romm'
  await writeRommFiles(basePath)
  const picture = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } }).png().toBuffer()
  const user = join(basePath, 'assets/users/557365723a31')
  await writeFile(join(user, 'screenshots/snes/10/snes9x/Chrono.state.png'), picture)
  await writeFile(join(user, 'profile/avatar.png'), picture)
  for (const folder of ['roms/3/10/cover', 'collections/1/cover']) {
    await mkdir(join(basePath, 'resources', folder), { recursive: true })
    await writeFile(join(basePath, 'resources', folder, 'big.png'), picture)
  }
  return { database_url: await createRommDatabase(t, ROMM_5, ROWS_5), base_path: basePath }
}

const basic = (username: string, password: string) => `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
const reasonsOf = (report: ImportReport) => report.skipped.map(({ kind, id, reason }) => `${kind} ${id ?? ''}: ${reason}`)

t.test('a report as text has no control characters of the source', (t) => {
  const text = formatReport({
    importer: 'romm', source: 'RomM', dry_run: false, status: 'failed', error: 'no\r\n', counts: {}, absent: {}, skipped_count: 1,
    skipped: [{ kind: 'asset', id: '1', name: '\x1b[2J\x07.srm', reason: 'its file is absent' }], warnings: ["User 'a\nb' is new"]
  })
  t.equal(text, "Import from RomM: failed.\nReason: no \nNot imported:\n  asset 1 ' [2J .srm': its file is absent\nNotice:\n  User 'a b' is new\n")
  t.end()
})

t.test('an import from RomM brings accounts, files and marks with their ids', async (t) => {
  const test = await fresh(t, { library: LIBRARY, withoutAdmin: true })
  const { app } = test
  const settings = await createRomm(t)
  const plan = await importRomm(test, settings, true)
  t.match(plan, { status: 'finished', warnings: { 0: /never scanned/ } }, 'a dry run before takes no ids')
  const report = await importRomm(test, settings)
  t.equal(report.status, 'finished', report.error ?? '')
  t.match(report.counts, { user: { new: 3 }, rom: { present: 2 }, asset: { new: 3 }, token: { new: 1 } })
  t.notMatch(JSON.stringify(report), /hunter2|\$2b\$|postgres:\/\//, 'the report holds no secret')

  const signIn = await app.inject({ url: '/api/users/me', headers: { authorization: basic('admin', ROMM_PASSWORD) } })
  t.match(signIn.json(), { id: 1, username: 'admin', role: 'admin', ra_username: 'adminRA' }, 'the password of RomM signs in')
  const { rows: [stored] } = await app.pg.query<{ password_hash: string }>('select password_hash from users where id = 1')
  t.match(stored?.password_hash, /^\$argon2id\$/, 'the first sign-in replaces the hash')
  const again = await app.inject({ url: '/api/users/me', headers: { authorization: basic('admin', ROMM_PASSWORD) } })
  t.equal(again.statusCode, 200)
  t.equal((await app.inject({ url: '/api/users/me', headers: { authorization: basic('admin', 'wrong') } })).statusCode, 401)

  const token = { authorization: `Bearer ${ROMM_TOKEN}` }
  const save = await app.inject({ url: '/api/saves/7/content', headers: token })
  t.same([save.statusCode, save.body], [200, 'save of chrono'], 'the token of RomM works, and the save has its id and bytes')
  const rom = await app.inject({ url: '/api/roms/10', headers: token })
  t.match(rom.json(), { id: 10, platform_id: 3, fs_name: 'Chrono (USA).sfc', igdb_id: 1802 }, 'ROM and platform keep their ids')

  const { rows: saves } = await app.pg.query(`select a.id, a.kind, a.slot, a.emulator, a.is_public, a.updated_at, d.device_id
    from assets a left join devices d on d.id = a.origin_device_id order by a.kind`)
  t.match(saves, [
    { id: 7, kind: 'save', slot: 'main', emulator: 'snes9x', is_public: true, device_id: ROMM_DEVICE, updated_at: new Date('2026-03-02T11:30:15.250Z') },
    { kind: 'screenshot' }, { kind: 'state', emulator: 'snes9x' }
  ])
  const { rows: marks } = await app.pg.query('select rom_id, user_id, rating, completion, status, last_played from rom_users order by rom_id')
  t.match(marks, [{ rom_id: 10, user_id: 1, rating: 9, completion: 80, status: 'completed_100' }, { rom_id: 11, user_id: 2 }])
  const { rows: [device] } = await app.pg.query<{ sync_config: { ssh_password: string } }>('select sync_config, is_ssh_trusted from devices')
  t.match(device, { is_ssh_trusted: false })
  t.not(device?.sync_config.ssh_password, 'hunter2', 'the password of the device is sealed')

  const avatar = await app.inject({ url: '/api/users/1/avatar', headers: token })
  t.equal(avatar.statusCode, 200)
  const cover = rom.json<{ path_cover_large: string }>().path_cover_large
  t.equal((await app.inject({ url: cover, headers: token })).headers['content-type'], 'image/png', 'an uploaded cover is imported')
  const { rows: [locks] } = await app.pg.query('select own_fields from roms where id = 10')
  t.same(locks, { own_fields: ['name', 'summary', 'url_cover'] }, 'and locked')
  const { rows: collections } = await app.pg.query('select id, name, is_favorite, path_cover_large from collections order by id')
  t.match(collections, [
    { id: 1, name: 'Best', path_cover_large: 'collections/1/cover/big.png' }, { id: 2, is_favorite: true, path_cover_large: null }
  ])

  const { rows: audit } = await app.pg.query<{ details: object }>("select details from audit_events where event = 'user.created' order by id")
  t.match(audit.map(({ details }) => details), [
    { by: 'import', user_id: 1, username: 'admin', role: 'admin' }, { username: 'bob', role: 'user' }, { by: 'import', role: 'user' }
  ], 'each new account has an audit record')

  const before = await readTables(test)
  const second = await importRomm(test, settings)
  t.equal(second.status, 'finished')
  t.same(await readTables(test), before, 'a second import changes nothing')
  t.match(second.counts, { user: { new: 0, present: 3 }, asset: { new: 0 }, mark: { new: 0 }, token: { new: 0 } })
})

t.test('a dry run stores nothing and reports the same counts', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  await scan(test)
  const settings = await createRomm(t)
  const before = await readTables(test)
  const plan = await importRomm(test, settings, true)
  t.equal(plan.status, 'finished', plan.error ?? '')
  t.same(await readTables(test), before)
  t.equal((await test.app.pg.query("select 1 from audit_events where event = 'user.created'")).rowCount, 0)
  const real = await importRomm(test, settings)
  t.same(plan.counts, real.counts)
})

t.test('an account of the same name here keeps its password, role and marks', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const { app, admin } = test
  await scan(test)
  const { rows: [rom] } = await app.pg.query<{ id: number }>("select id from roms where fs_name = 'Game 1.sfc'")
  await app.inject({ method: 'PUT', url: `/api/roms/${rom?.id ?? 0}/props`, headers: admin, payload: { data: { rating: 2 } } })
  const { rows: before } = await app.pg.query("select * from users where username = 'admin'")
  const report = await importRecords(test, createMemoryImporter({
    user: [
      make.user({ id: '1', username: 'admin', role: 'user', is_enabled: false, password_hash: `$2b$12$${'a'.repeat(53)}` }),
      make.user({ id: '2', username: 'ad min' }), make.user({ id: '3', username: 'ad_min' })
    ],
    platform: [make.platform({ id: '1' })],
    rom: [make.rom({ id: '1' })],
    mark: [make.mark({ rating: 9 })]
  }))
  t.same((await app.pg.query("select * from users where username = 'admin'")).rows, before)
  t.match((await app.pg.query('select rating from rom_users')).rows, [{ rating: 2 }])
  t.same(reasonsOf(report), ['mark 1/1: the user has marks for this ROM here already, which stay'])
  t.match(report.counts, { user: { new: 1, present: 2 } })
})

t.test('an import gives nobody more rights than in the source', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const { app } = test
  await scan(test)
  const uuid = randomUUID()
  await app.pg.query("insert into devices (user_id, device_id, name) select id, $1, 'Console' from users", [uuid])
  await app.pg.query("insert into permission_groups (name) values ('Family')")
  const grants = [{ entity: 'roms', action: 'read', own_only: false }]
  const report = await importRecords(test, createMemoryImporter({
    group: [make.group({ id: '1', name: 'Family', grants })],
    user: [make.user({ id: '1', is_enabled: false, group_id: '1' })],
    device: [make.device({ id: '1', device_id: uuid.toUpperCase() })],
    token: [make.token({ id: '1', scopes: ['roms.read', 'nonsense'] })]
  }))
  t.same(reasonsOf(report), ['device 1: another user of this server has the device with this id'])
  const { rows } = await app.pg.query(`select u.enabled, g.name, t.scopes
    from users u join permission_groups g on g.id = u.permission_group_id join client_tokens t on t.user_id = u.id where u.username = 'user1'`)
  t.same(rows, [{ enabled: false, name: 'Family (imported)', scopes: ['roms.read'] }])
})

t.test('an import keeps a save here and adds other content as a former version', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  await scan(test)
  const common = { user: [make.user({ id: '1' })], platform: [make.platform({ id: '1' })], rom: [make.rom({ id: '1' })] }
  const files = { 'a.srm': 'first', 'b.srm': 'second' }
  const asset = (path: string) => [make.asset({ id: '1', file_name: 'Game.srm', file: { path, size_bytes: 99 } })]
  const first = await importRecords(test, createMemoryImporter({ ...common, asset: asset('a.srm') }, { files }))
  t.match(first.warnings, [/no password/, /'a.srm' has 5 bytes and 99/])
  const second = await importRecords(test, createMemoryImporter({ ...common, asset: asset('b.srm') }, { files, identity: 'memory:2' }))
  t.match(second.counts, { asset: { new: 0, version: 1 } })
  const { rows } = await test.app.pg.query('select a.content_hash, v.content_hash as former from assets a join asset_versions v on v.asset_id = a.id')
  t.same(rows, [{ content_hash: '8b04d5e3775d298e78455efc5ca404d5', former: 'a9f0e61a137d86aa9db53465e0801612' }])
})

t.test('a ROM that is renamed here is found by its content', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  await scan(test)
  const { rows: [file] } = await test.app.pg.query<{ id: number, sha1_hash: string, fs_size_bytes: string }>(
    "select id, sha1_hash, fs_size_bytes from roms where fs_name = 'Chrono (USA).sfc'")
  const chrono = { fs_size_bytes: Number(file?.fs_size_bytes), sha1: (file?.sha1_hash ?? '').toUpperCase() }
  const report = await importRecords(test, createMemoryImporter({
    user: [make.user({ id: '1' })],
    platform: [make.platform({ id: '1' }), make.platform({ id: '2', fs_slug: 'nowhere' })],
    rom: [
      make.rom({ id: '1', fs_name: 'Old name.sfc', ...chrono }), make.rom({ id: '2', fs_name: 'Gone.sfc', fs_size_bytes: 3 }),
      make.rom({ id: '3', platform_id: '2', fs_name: 'Game 1.sfc' })
    ],
    mark: [make.mark({ rating: 4 })]
  }))
  t.match((await test.app.pg.query('select rom_id, rating from rom_users')).rows, [{ rom_id: file?.id, rating: 4 }])
  t.match(reasonsOf(report), [/^platform 2: no library here has a platform folder 'nowhere'/, /^rom 2: no file/, /^rom 3: no file/])
})

t.test('provider ids become matches, and values of people become field locks', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const { app, admin } = test
  await scan(test)
  await importRecords(test, createMemoryImporter({
    platform: [make.platform({ id: '1' })],
    rom: [
      make.rom({
        id: '1', name: 'My Game', summary: 'Found text', provider_ids: { igdb: '7', moby: 'seven', nobody: '1' }, locked: ['name', 'igdb'],
        manual_metadata: { genres: ['Puzzle'], companies: 4, unknown: 'x' }
      }),
      make.rom({ id: '2', name: 'Found Name', provider_ids: { ss: '8' } })
    ]
  }))
  const { rows } = await app.pg.query("select name, own_fields, manual_metadata, genres from roms where fs_name like 'Game%' order by fs_name")
  t.same(rows, [
    { name: 'My Game', own_fields: ['igdb_id', 'name'], manual_metadata: { genres: ['Puzzle'] }, genres: ['Puzzle'] },
    { name: 'Found Name', own_fields: [], manual_metadata: null, genres: [] }
  ])
  const { rows: [rom] } = await app.pg.query<{ id: number }>("select id from roms where fs_name = 'Game 1.sfc'")
  t.match((await app.inject({ url: `/api/roms/${rom?.id ?? 0}`, headers: admin })).json(), { igdb_id: 7, moby_id: null, is_identified: true })
  await importRecords(test, createMemoryImporter({
    platform: [make.platform({ id: '1' })],
    rom: [make.rom({ id: '1', name: 'Other Game', locked: ['name'], manual_metadata: { genres: ['Action'] } })]
  }, { identity: 'memory:2' }))
  const { rows: [kept] } = await app.pg.query('select name, manual_metadata from roms where id = $1', [rom?.id])
  t.same(kept, { name: 'My Game', manual_metadata: { genres: ['Puzzle'] } }, 'the values of this server stay')
})

t.test('pictures that people added are imported once', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const { app, admin } = test
  await scan(test)
  const picture = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'blue' } }).png().toBuffer()
  const file = (path: string) => ({ file: { path, size_bytes: null }, url: null })
  const importer = createMemoryImporter({
    platform: [make.platform({ id: '1' })],
    rom: [
      make.rom({ id: '1', screenshots: [file('a.png'), file('a.png')], manual: file('a.pdf'), media: { box2d: file('a.png'), video: file('a.mp4') } }),
      make.rom({ id: '2', cover: file('page.png'), manual: file('a.exe'), media: { box2d: { ...file('a.png'), url: 'https://x.example/a.png' } } })
    ]
  }, { files: { 'a.png': picture, 'a.pdf': '%PDF-1.7', 'a.mp4': 'film', 'page.png': '<html>', 'a.exe': 'MZ' } })
  const opened: Readable[] = []
  const report = await importRecords(test, {
    ...importer,
    async open (ref) {
      const content = await importer.open(ref)
      opened.push(content)
      return content
    }
  })
  t.ok(opened.every((content) => content.destroyed), 'files that are left out are closed too')
  t.match(report, { skipped_count: 3, counts: { rom: { listed: 2, present: 2, skipped: 0, files_skipped: 3 } } })
  t.match(reasonsOf(report).sort(), [
    /^rom 1: its file: media of the kind 'video' are not stored here; add it to scan.media/,
    /^rom 2: its file: Input file contains unsupported/, /^rom 2: .*type '.exe'/
  ])
  interface Stored { path_screenshots: string[], path_manual: string, media: { box2d: { path: string } } }
  const { rows: [rom] } = await app.pg.query<Stored>(
    "select path_screenshots, path_manual, media from roms where fs_name = 'Game 1.sfc'")
  t.match(rom, { path_screenshots: [/own-.*\.png$/, /own-.*\.png$/], path_manual: /\.pdf$/, media: { box2d: { path: /own-.*\.png$/ } } })
  for (const path of [...rom?.path_screenshots ?? [], rom?.path_manual ?? '', rom?.media.box2d.path ?? '']) {
    t.equal((await app.inject({ url: `/assets/romm/resources/${path}`, headers: admin })).statusCode, 200, path)
  }
  const before = await readTables(test)
  await importRecords(test, importer)
  t.same(await readTables(test), before)
})

t.test('a collection gets members whose files come later', async (t) => {
  const test = await fresh(t, { library: { roms: { snes: { 'Game 1.sfc': 'one' } } } })
  await scan(test)
  const importer = createMemoryImporter({
    user: [make.user({ id: '1' })],
    platform: [make.platform({ id: '7' })],
    rom: [make.rom({ id: '1', platform_id: '7' }), make.rom({ id: '2', platform_id: '7' })],
    collection: [make.collection({ id: '1', rom_ids: ['1', '2'] })],
    smart_collection: [make.smart_collection({ id: '1', filter_criteria: { platform_ids: [7, 8], collection_id: 99, genres: ['Puzzle'] } })]
  })
  const count = async () => (await test.app.pg.query('select 1 from collection_roms')).rowCount
  await importRecords(test, importer)
  t.equal(await count(), 1)
  const { rows: [smart] } = await test.app.pg.query('select filter_criteria from smart_collections')
  const { rows: [platform] } = await test.app.pg.query<{ id: number }>('select id from platforms')
  t.same(smart, { filter_criteria: { platform_ids: [platform?.id], collection_id: 2147483647, genres: ['Puzzle'] } })
  await writeFile(join(test.libraryDir, 'roms/snes/Game 2.sfc'), 'two')
  await scan(test)
  await importRecords(test, importer)
  t.equal(await count(), 2)
  await test.app.pg.query('delete from collection_roms')
  await importRecords(test, importer)
  t.equal(await count(), 0, 'members that a person removed stay removed')
})

t.test('a last play in the future is left out, because no later play would replace it', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  await scan(test)
  const times = { 1: '2026-02-01T10:00:00.000Z', 2: '2099-01-01T00:00:00.000Z' }
  await importRecords(test, createMemoryImporter({
    user: [make.user({ id: '1' })],
    platform: [make.platform({ id: '1' })],
    rom: [make.rom({ id: '1' }), make.rom({ id: '2' })],
    mark: Object.entries(times).map(([id, time]) => make.mark({ rom_id: id, last_played: time, rating: 7 }))
  }))
  const { rows } = await test.app.pg.query('select rating, last_played from rom_users order by rom_id')
  t.same(rows, [{ rating: 7, last_played: new Date(times[1]) }, { rating: 7, last_played: null }])
})

t.test('play sessions of a ROM wait until its file is here', async (t) => {
  const test = await fresh(t, { library: { roms: { snes: { 'Game 1.sfc': 'one' } } } })
  const { app } = test
  await scan(test)
  const [start, end] = ['2026-02-01T10:00:00Z', '2026-02-01T10:00:05Z']
  const importer = createMemoryImporter({
    user: [make.user({ id: '1' })],
    platform: [make.platform({ id: '1' })],
    rom: [make.rom({ id: '1' }), make.rom({ id: '2' }), make.rom({ id: '3' })],
    play_session: [
      // RomM cuts the ends to seconds, and keeps the duration in milliseconds.
      make.play_session({ id: '1', rom_id: '1', start_time: start, end_time: end, duration_ms: 5_900 }),
      make.play_session({ id: '2', rom_id: '2', start_time: start, end_time: end }),
      make.play_session({ id: '3', rom_id: '3', start_time: start, end_time: end }),
      make.play_session({ id: '4', rom_id: null, start_time: start, end_time: end })
    ]
  })
  const list = async () => (await app.pg.query(`select r.fs_name, s.duration_ms::int from play_sessions s
    left join roms r on r.id = s.rom_id order by r.fs_name nulls last`)).rows
  const first = await importRecords(test, importer)
  t.match(reasonsOf(first).filter((reason) => reason.startsWith('play_session')), [/^play_session 2: .*ROM 2/, /^play_session 3: .*ROM 3/])
  const [one, unknown] = [{ fs_name: 'Game 1.sfc', duration_ms: 5_900 }, { fs_name: null, duration_ms: 5_000 }]
  t.same(await list(), [one, unknown])
  await writeFile(join(test.libraryDir, 'roms/snes/Game 2.sfc'), 'two')
  await scan(test)
  await importRecords(test, importer)
  t.same(await list(), [one, { fs_name: 'Game 2.sfc', duration_ms: 5_000 }, unknown])
})

t.test('unusable records are left out with a reason and the others are stored', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  await scan(test)
  const report = await importRecords(test, createMemoryImporter({
    user: [
      make.user({ id: '1', email: 'a@example.org' }), make.user({ id: '2', username: 'other', email: 'a@example.org' }),
      make.user({ id: '6', password_hash: `$argon2id$v=19$m=19456,t=2,p=1$${'a'.repeat(22)}$${'b'.repeat(43)}` }),
      { ...make.user({ id: '3' }), username: 5 }, make.user({ id: '4', username: 'x\0y' }), make.user({ id: '5', last_login: '2026-99-01T00:00:00Z' })
    ],
    platform: [make.platform({ id: '1' })],
    rom: [make.rom({ id: '1' })],
    device: [make.device({ id: 'd', sync_config: { ssh_password: 'x'.repeat(20_000) } }), make.device({ id: 'e', user_id: '9' })],
    asset: [
      make.asset({ id: '1', file_name: '../../etc/passwd' }), make.asset({ id: '2', file_name: '..' }), make.asset({ id: '3' }),
      make.asset({ id: '4', kind: 'screenshot', file_name: 'page.png' })
    ],
    token: [
      make.token({ id: '1', scopes: ['roms.read', 'nonsense'] }), make.token({ id: '2', device_id: 'e' }),
      make.token({ id: '3', expires_at: '2020-01-01T00:00:00Z' }), make.token({ id: '4', scopes: ['nonsense'] })
    ],
    mark: [make.mark({ user_id: null }), make.mark({ rating: 99, completion: 4_000 })]
  }, { files: { '1.srm': 'a', '2.srm': 'b', '4.srm': '<html>' } }))
  t.match(reasonsOf(report), [
    /^user 3: its field \/username/, /^user 4: its field \/username/, /^user 5: its last_login '2026-99/, /^mark 1\/: it belongs to the person who imports/,
    /^device e: its user 9/, /^asset save 2: /, /^asset save 3: its file is absent/, /^asset screenshot 4: .*not a picture/,
    /^token 2: its device e was not imported/, /^token 3: it expired/, /^token 4: this server has none of its scopes/
  ])
  t.match(report.warnings.filter((text) => text.includes("'user6'")), [/no password that this server can verify/])
  const damaged = await test.app.inject({ url: '/api/users/me', headers: { authorization: basic('user6', 'anything') } })
  t.equal(damaged.statusCode, 401, 'a damaged hash fails no sign-in of its account with a server error')
  const { rows } = await test.app.pg.query('select file_name, disk_path from assets')
  t.match(rows, [{ file_name: 'passwd', disk_path: /^users\/[\w-]+\/saves\/snes\/\d+\/\w+-passwd$/ }])
  t.match((await test.app.pg.query('select rating, completion from rom_users')).rows, [{ rating: 10, completion: 100 }])
})

t.test('an import from gamelists brings ratings and favourites of the named user', async (t) => {
  const game = (path: string, more: string) => `<game><path>./${path}</path>${more}</game>`
  const gamelist = `<gameList>${game('Game 1.sfc', '<rating>0.8</rating><favorite>true</favorite><playcount>3</playcount><lastplayed>20260102T030405</lastplayed>')}` +
    `${game('Game 2.sfc', '<hidden>true</hidden>')}${game('Nowhere.sfc', '<favorite>true</favorite>')}${game('../away.sfc', '')}</gameList>`
  const test = await fresh(t, { library: { roms: { snes: { ...LIBRARY.roms.snes, 'gamelist.xml': gamelist } } } })
  const { app } = test
  const settings = { folder: join(test.libraryDir, 'roms') }
  const nobody = await importBy(test, { importer: 'gamelist', settings })
  t.match(reasonsOf(nobody).filter((reason) => reason.startsWith('mark')), [/name the user with --user/, /name the user/])
  t.match(reasonsOf(nobody).filter((reason) => /names no file|plays/.test(reason)), [/^rom : its path names no file/, /^play_session snes\/Game 1.sfc: 3 plays/])
  t.match(nobody.counts, { play_session: { listed: 1, skipped: 1 } })
  const { rows: [user] } = await app.pg.query<{ id: number }>("select id from users where username = 'admin'")
  const report = await importBy(test, { importer: 'gamelist', settings, user_id: user?.id ?? null })
  t.equal(report.status, 'finished', report.error ?? '')
  const { rows } = await app.pg.query(`select r.fs_name, m.rating, m.hidden, m.last_played from rom_users m join roms r on r.id = m.rom_id
    order by r.fs_name`)
  t.match(rows, [
    { fs_name: 'Game 1.sfc', rating: 8, hidden: false, last_played: new Date('2026-01-02T03:04:05Z') }, { fs_name: 'Game 2.sfc', hidden: true }
  ])
  const { rows: favorites } = await app.pg.query(`select r.fs_name from collection_roms l join collections c on c.id = l.collection_id and c.is_favorite
    join roms r on r.id = l.rom_id`)
  t.same(favorites, [{ fs_name: 'Game 1.sfc' }])
  t.match(report.warnings, [/^Collection 'Favourites': 1 of 2 ROMs/])
  const before = await readTables(test)
  await importBy(test, { importer: 'gamelist', settings, user_id: user?.id ?? null })
  t.same(await readTables(test), before)

  await test.createUser('second')
  const { rows: [second] } = await app.pg.query<{ id: number }>("select id from users where username = 'second'")
  const other = await importBy(test, { importer: 'gamelist', settings, user_id: second?.id ?? null })
  t.match(other.counts, { mark: { new: 2 }, collection: { new: 1 } }, 'another user gets marks of their own')
})

t.test('a favourite track of this server does not count as new', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  await scan(test)
  const records = {
    user: [make.user({ id: '1', username: 'admin' })],
    platform: [make.platform({ id: '1', fs_slug: 'psx' })],
    rom: [make.rom({ id: '1', fs_name: 'Discs of Time' })],
    favorite_track: [{ user_id: '1', track: { rom_id: '1', path: 'soundtrack/01 Intro.mp3' } }]
  }
  const first = await importRecords(test, createMemoryImporter(records))
  t.match(first.counts, { favorite_track: { new: 1, present: 0 } })
  const second = await importRecords(test, createMemoryImporter(records, { identity: 'memory:2' }))
  t.match(second.counts, { favorite_track: { new: 0, present: 1 } })
})

t.test('an imported password of more than 72 bytes signs in and keeps its hash', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const password = 'a password of many words '.repeat(4)
  const passwordHash = bcrypt.hashSync(password, 4)
  await importRecords(test, createMemoryImporter({ user: [make.user({ id: '1', password_hash: passwordHash })] }))
  for (const given of [password, password, `${password.slice(0, 72)} and a typing error`]) {
    const { statusCode } = await test.app.inject({ url: '/api/users/me', headers: { authorization: basic('user1', given) } })
    t.equal(statusCode, 200, given)
  }
  const { rows } = await test.app.pg.query("select password_hash from users where username = 'user1'")
  t.same(rows, [{ password_hash: passwordHash }], 'bcrypt compares 72 bytes, so the rest may be wrong')
})

t.test('the log names refused records without their content', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  await scan(test)
  // PostgreSQL repeats the row in the details of this error.
  await test.app.pg.query("alter table notes add constraint refused check (title <> 'secret title')")
  t.teardown(() => test.app.pg.query('alter table notes drop constraint refused'))
  const longTitle = Array.from({ length: 1_000 }, () => String.fromCodePoint(0x4e00 + randomInt(20_000))).join('')
  logged.length = 0
  const report = await importRecords(test, createMemoryImporter({
    user: [make.user({ id: '1', email: 'secret@example.org' })],
    platform: [make.platform({ id: '1' })],
    rom: [make.rom({ id: '1' })],
    note: [
      make.note({ id: '1', content: 'a secret text', created_at: '0000-01-01T00:00:00Z' }), make.note({ id: '2', title: 'secret title' }),
      make.note({ id: '3', title: longTitle }), make.note({ id: '4', title: 'usable' })
    ],
    token: [make.token({ id: '5ec2e7', created_at: '0000-01-01T00:00:00Z' })]
  }))
  t.match(reasonsOf(report), [
    /^note 1: the database refused it/, /^note 2: the database refused it/, /^note 3: the database refused it: index row/,
    /^token 5ec2e7: the database refused it/
  ])
  t.match(report.counts, { note: { new: 1 } })
  t.match(logged.filter((line) => line.includes('refused records')), [
    /"kind":"note","records":4/, /"note","records":1/, /"note","records":1/, /"note","records":1/, /"token","records":1/
  ])
  t.same(logged.filter((line) => /secret|5ec2e7/.test(line)), [])
})

t.test('only an administrator who signed in starts an import and reads reports', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const { app, admin, createUser } = test
  const start = (headers: { authorization: string }, payload: object = { importer: 'romm' }) => app.inject({ method: 'POST', url: '/api/imports', headers, payload })
  const member = await createUser('member')
  t.equal((await start(member)).statusCode, 403)
  t.equal((await app.inject({ url: '/api/imports', headers: member })).statusCode, 403)
  const { raw_token: raw } = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: admin,
    payload: { name: 'all', scopes: ['tasks.run', 'users.write', 'platforms.write', 'roms.write', 'assets.write', 'devices.write', 'collections.write'] }
  })).json<{ raw_token: string }>()
  t.equal((await start({ authorization: `Bearer ${raw}` })).statusCode, 403, 'a token is not enough')
  t.equal((await start(admin, { importer: 'nothing' })).statusCode, 400)
  const run = await app.inject({ method: 'POST', url: '/api/tasks/run/import_library', headers: admin, payload: {} })
  t.equal(run.statusCode, 400, 'the task has no other way to start')
  const started = await start(admin, { importer: 'romm', dry_run: true })
  t.equal(started.statusCode, 202, started.body)
  const { task_id: id } = started.json<{ task_id: string }>()
  await finish(test, { id })
  const report = await app.inject({ url: `/api/imports/${id}`, headers: admin })
  t.match(report.json(), { id, importer: 'romm', dry_run: true, report: { status: 'failed', error: /database_url|dump/ } })
  const [listed] = (await app.inject({ url: '/api/imports', headers: admin })).json<{ report: object }[]>()
  const { skipped, warnings, ...summary } = report.json<{ report: ImportReport }>().report
  t.same([skipped, warnings], [[], []])
  t.same(listed, { ...report.json<object>(), report: summary }, 'the list leaves out the names and sentences of a report')
})
