import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fastify from 'fastify'
import t from 'tap'
import { createHealth } from '../../../plugins/heartbeat/health.ts'
import { createTimedMemo } from '../../../plugins/heartbeat/timed-memo.ts'
import { openDb } from '../../open-db.ts'
import { type TestApp, buildTestApp, dropUsers, shareTestApp } from '../../support.ts'
import { createLibrary } from '../../../plugins/library/service.ts'
import { loadConfig } from '../../load-config.ts'
import { until } from '../../until.ts'
import { addRom } from '../roms/support.ts'

const fresh = shareTestApp(t)
const freshWithWorker = shareTestApp(t, { worker: true })
const freshWithSwitches = shareTestApp(t, {
  env: {
    DISABLE_USERPASS_LOGIN: 'true',
    ENABLE_SCHEDULED_RESCAN: '1',
    SCHEDULED_RESCAN_CRON: '30 2 * * 0',
    DEVICE_INSTALL_ENABLED: 'false',
    DEVICE_INSTALL_EXCLUDED_PLATFORM_SLUGS: 'win, ps5',
    SVC_CONSOLE_ENABLED: 'false'
  }
})

const CRON_KEYS = ['SCHEDULED_RESCAN_CRON', 'SCHEDULED_UPDATE_SWITCH_TITLEDB_CRON',
  'SCHEDULED_UPDATE_LAUNCHBOX_METADATA_CRON', 'SCHEDULED_CONVERT_IMAGES_TO_WEBP_CRON']

t.test('a client without credentials learns the versions and the enabled features', async (t) => {
  const { app, admin } = await fresh(t, { library: { roms: { snes: {}, nes: {}, '@eaDir': {} } } })
  const reply = await app.inject({ url: '/api/heartbeat' })
  t.equal(reply.statusCode, 200)
  t.match(reply.json(), {
    SYSTEM: { VERSION: '5.2.0', SVC_VERSION: /^\d+\.\d+\.\d+/, SHOW_SETUP_WIZARD: false },
    METADATA_SOURCES: { ANY_SOURCE_ENABLED: true, LIBRETRO_API_ENABLED: true, IGDB_API_ENABLED: false },
    FILESYSTEM: { FS_PLATFORMS: [] },
    FRONTEND: { DISABLE_USERPASS_LOGIN: false, YOUTUBE_BASE_URL: 'https://www.youtube.com' },
    TASKS: { ENABLE_SCHEDULED_RESCAN: false, SCHEDULED_RESCAN_CRON: '0 3 * * *' }
  })
  t.match(reply.cookies, [{ name: 'svc_csrftoken', path: '/' }])
  const own = await app.inject({ url: '/api/heartbeat', headers: admin })
  t.same(own.json().FILESYSTEM.FS_PLATFORMS, ['nes', 'snes'], 'folders are told to those who may see platforms')
})

t.test('administrators see that a changed config.yml cannot be used', async (t) => {
  const { app, admin, config } = await fresh(t)
  const problems = async () => (await app.inject({ url: '/api/health', headers: admin })).json<{ problems: object[] }>().problems
  const isTold = async () => (await problems()).length > 0
  t.teardown(() => { rmSync(config.file.path, { force: true }) })
  writeFileSync(config.file.path, 'scan: [\nsecret: hunter2\n')
  await until(isTold, 'the problem')
  const [problem] = await problems()
  t.match(problem, { kind: 'config_unusable', subject: config.file.path, message: /stay in use/, remedy: /Correct the file/ })
  t.notMatch(JSON.stringify(problem), 'hunter2')
  t.notOk('problems' in (await app.inject({ url: '/api/health' })).json())
  rmSync(config.file.path)
  t.same(await problems(), [])
})

t.test('every known flag is present, whether or not its provider is installed', async (t) => {
  const { app } = await buildTestApp(t, { packages: [] })
  const heartbeat = (await app.inject({ url: '/api/heartbeat' })).json()
  const flags = ['IGDB', 'SS', 'MOBY', 'STEAMGRIDDB', 'RA', 'LAUNCHBOX', 'HASHEOUS', 'PLAYMATCH', 'TGDB', 'FLASHPOINT', 'HLTB',
    'LIBRETRO', 'DEMOZOO', 'POUET', 'CSDB', 'STEAM'].map((source) => `${source}_API_ENABLED`)
  t.same(heartbeat.METADATA_SOURCES,
    Object.fromEntries(['ANY_SOURCE_ENABLED', 'SS_DEV_CREDENTIALS_SET', ...flags].map((flag) => [flag, false])))
  t.same(Object.keys(heartbeat).sort(),
    ['DEVICE_INSTALL', 'EMULATION', 'FILESYSTEM', 'FRONTEND', 'METADATA_SOURCES', 'NOTIFICATIONS', 'OIDC', 'SYSTEM', 'TASKS'])
  t.same(heartbeat.OIDC, { ENABLED: false, AUTOLOGIN: false, PROVIDER: '', RP_INITIATED_LOGOUT: false })
  t.same(heartbeat.NOTIFICATIONS, { EMAIL_ENABLED: false, EMAILS_RESET_LINKS: false })
  t.same(heartbeat.DEVICE_INSTALL,
    { ENABLED: true, EXCLUDED_PLATFORM_SLUGS: ['win', 'win3x', 'win9x', 'windows-apps'] })
  t.same(heartbeat.EMULATION, { DISABLE_EMULATOR_JS: false, DISABLE_RUFFLE_RS: false })
  for (const key of CRON_KEYS) t.match(heartbeat.TASKS[key], /^\S+( \S+){4}$/, key)
})

t.test('switches of the configuration are visible', async (t) => {
  const { app } = await freshWithSwitches(t)
  t.match((await app.inject({ url: '/api/heartbeat' })).json(), {
    FRONTEND: { DISABLE_USERPASS_LOGIN: true },
    DEVICE_INSTALL: { ENABLED: false, EXCLUDED_PLATFORM_SLUGS: ['win', 'ps5'] },
    TASKS: { ENABLE_SCHEDULED_RESCAN: true, SCHEDULED_RESCAN_CRON: '30 2 * * 0' }
  })
})

t.test('the setup wizard is on until there is an administrator, unless switched off', async (t) => {
  const shows = async ({ app }: TestApp) => (await app.inject({ url: '/api/heartbeat' })).json().SYSTEM.SHOW_SETUP_WIZARD
  const testApp = await fresh(t)
  await dropUsers(testApp)
  await until(() => shows(testApp), 'a wizard that is due')
  await testApp.createUser('owner', 'admin')
  t.equal(await shows(testApp), false)
  await dropUsers(testApp)
  const other = await buildTestApp(t, { databaseUrl: testApp.databaseUrl, env: { DISABLE_SETUP_WIZARD: 'yes' } })
  await dropUsers(other)
  t.equal(await shows(other), false)
})

t.test('cached folders of one caller stay hidden from others, and new folders appear', async (t) => {
  const testApp = await fresh(t, { library: { roms: { snes: {}, nes: {} } } })
  const { app, admin, createUser, libraryDir } = testApp
  const member = await createUser('alice')
  await addRom(testApp, { fs_name: 'a.sfc', platform: 'snes' })
  const platform = (await app.inject({ url: '/api/platforms', headers: admin })).json()[0].id
  const { id } = (await app.inject({ url: '/api/users/me', headers: member })).json()
  await app.inject({
    method: 'POST', url: '/api/permissions/hidden', headers: admin,
    payload: { entity: 'platforms', entity_id: platform, user_id: id }
  })
  const folders = async (headers = {}) => (await app.inject({ url: '/api/heartbeat', headers })).json().FILESYSTEM.FS_PLATFORMS
  await until(async () => (await folders(admin)).length === 2, 'the folders of this library')
  t.same(await folders(member), ['nes'])
  t.same(await folders(), [])
  mkdirSync(join(libraryDir, 'roms', 'gba'))
  await until(async () => (await folders(admin)).includes('gba'), 'a folder that was made')
})

t.test('an unreadable library does not stop the heartbeat', async (t) => {
  const { app, libraryDir } = await fresh(t)
  rmSync(libraryDir, { recursive: true })
  const reply = await app.inject({ url: '/api/heartbeat' })
  t.equal(reply.statusCode, 200)
  t.same(reply.json().FILESYSTEM.FS_PLATFORMS, [])
})

t.test('sources that are off, not installed or unknown are told apart', async (t) => {
  const { app } = await freshWithWorker(t)
  const ask = async (source: string) => {
    const reply = await app.inject({ url: `/api/heartbeat/metadata/${source}` })
    return [reply.statusCode, reply.json()]
  }
  t.same(await ask('gamelist'), [200, true], 'active, and it answers')
  t.same(await ask('igdb'), [200, false], 'off')
  t.same(await ask('moby'), [200, false], 'maybe not installed')
  t.same(await ask('steam'), [200, false])
  t.same(await ask('nowhere'), [400, { detail: 'Invalid metadata source' }])
  t.same(await ask('__proto__'), [400, { detail: 'Invalid metadata source' }])
})

t.test('without a scan worker no provider answers', async (t) => {
  const { app } = await fresh(t)
  t.same((await app.inject({ url: '/api/heartbeat/metadata/gamelist' })).json(), false)
})

t.test('an answer is cached for its time, a failure is not', async (t) => {
  let now = 0
  let made = 0
  const memo = createTimedMemo<number>(100, () => now)
  const make = async () => ++made
  t.same(await Promise.all([memo('a', make), memo('a', make), memo('b', make)]), [1, 1, 2])
  now = 99
  t.equal(await memo('a', make), 1)
  now = 100
  t.equal(await memo('a', make), 3)
  await t.rejects(memo('c', async () => { throw new Error('no') }), { message: 'no' })
  t.equal(await memo('c', make), 4)
})

t.test('readiness needs the database, and shows a missing scan worker', async (t) => {
  const { app, worker } = await freshWithWorker(t)
  t.same((await app.inject({ url: '/api/health' })).json(), { status: 'ok' })
  const ready = await app.inject({ url: '/api/health/ready' })
  t.equal(ready.statusCode, 200)
  t.same(ready.json(), {
    status: 'ok',
    checks: { database: { status: 'ok', reason: null }, worker: { status: 'ok', reason: null }, libraries: { status: 'ok', reason: null } }
  })
  t.equal((await worker?.inject('/api/health'))?.statusCode, 404)
  // No later test shares this worker.
  await worker?.close()
  const lame = await app.inject({ url: '/api/health/ready' })
  t.equal(lame.statusCode, 200)
  t.same(lame.json(), {
    status: 'ok',
    checks: {
      database: { status: 'ok', reason: null },
      worker: { status: 'failed', reason: 'No scan worker is running' },
      libraries: { status: 'ok', reason: null }
    }
  })
})

t.test('an unreachable database is reported without its address', async (t) => {
  const app = fastify()
  const { db } = await openDb('postgres://someone:a-password@127.0.0.1:1/none')
  app.decorate('db', { getter: () => db })
  app.decorate('findSchemaProblem', () => null)
  app.decorate('library', createLibrary(db, loadConfig({ SVC_DATA_DIR: t.testdir() }).config))
  app.decorate('workers', {
    id: 'test',
    session: db,
    isAlive: async () => (await db.query('select 1')).rowCount === 1,
    isResting: async () => false,
    requireScanWorker: async () => {},
    findAbsence: async () => null,
    findAddress: async () => undefined,
    listAlive: async () => [],
    restart: () => {},
    retire: () => {},
    claim: async () => false,
    runLocked: async (_key, work) => await work(),
    isLocked: async () => false,
    runAlone: async (_key, work) => await work(),
    listen: async () => {}
  })
  t.teardown(() => app.close())
  t.same(await createHealth(app).readReadiness(), {
    status: 'failed',
    checks: {
      database: { status: 'failed', reason: 'The database does not answer; see the log of the server' },
      worker: { status: 'failed', reason: 'No scan worker is running' },
      libraries: { status: 'failed', reason: 'The libraries cannot be checked; see the log of the server' }
    }
  })
})

t.test('the front page without the console links to the documentation', async (t) => {
  const { app } = await freshWithSwitches(t)
  const page = await app.inject({ url: '/' })
  t.equal(page.statusCode, 200)
  t.match(page.headers['content-type'], /^text\/html/)
  t.match(page.body, /svc \d+\.\d+/)
  for (const [, href] of page.body.matchAll(/href="([^"]+)"/g)) {
    t.equal((await app.inject({ url: href ?? '' })).statusCode, 200, String(href))
  }
})
