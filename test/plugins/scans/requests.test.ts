import { once } from 'node:events'
import { rename } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { type Socket, io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { runScan } from '../../../plugins/scans/cli.ts'
import { awaitEarlierEvents } from '../../core/sockets-support.ts'
import { resetScripts, scriptOf } from '../fixtures/script.ts'
import { until } from '../../until.ts'
import { type ScanTest, buildScanTest } from './support.ts'

interface Received { event: string, payload: unknown }
interface Client { socket: Socket, received: Received[], of (event: string): unknown[] }

const test = await buildScanTest(t, { providers: ['alpha', 'beta', 'digest'] })
const { app, admin, put, start, finished, scan, sql, libraryDir } = test
const processes = [app, test.worker].filter((one) => one !== null)
const alpha = scriptOf('alpha')
/** The provider that keeps a scan running, because Alpha's calls end after 0.3 s. */
const digest = scriptOf('digest')
await app.listen({ port: 0, host: '127.0.0.1' })
const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`

t.beforeEach(resetScripts)

/** Signs in as a browser does and returns its cookies. */
async function logIn (authorization: string): Promise<string> {
  const answer = await fetch(`${base}/api/login`, { method: 'POST', headers: { authorization } })
  if (!answer.ok) throw new Error(`login refused: ${await answer.text()}`)
  return answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0]).join('; ')
}

async function connect (t: Test, cookie: string | null): Promise<Client> {
  const socket = io(base, {
    path: '/ws/socket.io', transports: ['websocket'], forceNew: true,
    ...(cookie === null ? {} : { extraHeaders: { cookie } })
  })
  t.teardown(() => { socket.disconnect() })
  await once(socket as never, 'connect')
  // The worker publishes the end of a scan after it stored the end.
  await until(async () => (await sql('select from tasks where end_pending')).length === 0, 'the end of earlier scans')
  await awaitEarlierEvents(socket, ...processes)
  const received: Received[] = []
  // An administrator may still be notified of the scan of an earlier test.
  socket.onAny((event: string, payload: unknown) => { if (event.startsWith('scan:')) received.push({ event, payload }) })
  return {
    socket, received, of: (event) => received.filter((one) => one.event === event).map((one) => one.payload)
  }
}

const ended = ({ of }: Client) => until(() => of('scan:done').length + of('scan:done_ko').length > 0, 'the scan ends')

/** Keeps a scan running until the returned function is called. */
function holdScan (): () => void {
  const { promise, resolve } = Promise.withResolvers<null>()
  digest.identify = () => promise
  return () => { resolve(null) }
}

const post = (payload?: object | string, headers: Record<string, string> = admin) => app.inject({
  method: 'POST', url: '/api/tasks/scan', headers, ...(payload === undefined ? {} : { payload })
})

t.test('a scan without a body is a quick one of the whole library', async (t) => {
  await put({ 'roms/snes/Quill (USA).sfc': 'quill' })
  const answer = await post()
  t.equal(answer.statusCode, 202)
  const body = answer.json<{ task_id: string }>()
  t.match(body, { task_name: 'Quick Scan', task_key: null, status: 'queued', task_id: /^[0-9a-f-]{36}$/, created_at: /\+00:00$/ })
  t.match(await finished(body.task_id), { status: 'finished', task_type: 'scan', meta: { scan_stats: { new_roms: 1 } } })
})

t.test('an unknown key, type or provider is refused and named', async (t) => {
  const wrong: [object, (string | number)[], RegExp][] = [
    [{ colour: 'red' }, ['body', 'colour'], /Unknown key 'colour'/],
    [{ type: 'fast' }, ['body', 'type'], /new_platforms, quick/],
    [{ apis: ['alpha', 'nowhere'] }, ['body', 'apis', 1], /alpha/],
    [{ platforms: ['snes'] }, ['body', 'platforms', 0], /integer/],
    [{ roms_ids: 5 }, ['body', 'roms_ids'], /array/]
  ]
  for (const [payload, loc, msg] of wrong) {
    const answer = await post(payload)
    t.equal(answer.statusCode, 422, JSON.stringify(payload))
    t.match(answer.json(), { detail: [{ loc, msg }] }, JSON.stringify(payload))
  }
})

t.test('the legacy key is accepted, and providers that are not installed are skipped', async (t) => {
  const status = await scan({ playmatch_enabled: false, apis: ['igdb', 'playmatch'], launchbox_remote_enabled: false })
  t.equal(status.status, 'finished')
  t.same(alpha.calls, [])
})

t.test('only callers with the scope for tasks start a scan', async (t) => {
  const user = await test.createUser('reader')
  t.equal((await post({}, user)).statusCode, 403)
  t.equal((await app.inject({ method: 'POST', url: '/api/tasks/scan' })).statusCode, 401)
})

t.test('a scan takes any name of a folder that JSON allows', async (t) => {
  const { meta } = await finished(await start({ platform_fs_slugs: ['no such folder \ud83c'] }))
  t.match(meta, { scan_stats: { scanned_roms: 0 } })
})

t.test('during a library scan another is refused, and a scan of named ROMs is queued', async (t) => {
  await put({ 'roms/nes/Held.nes': 'held' })
  const letGo = holdScan()
  const running = await start({ platform_fs_slugs: ['nes'] })
  await until(() => digest.calls.length > 0, 'the scan runs')
  t.match(await post(), { statusCode: 409, body: /A scan is already in progress/ })
  const [rom] = await sql<{ id: number }>("select id from roms where fs_name = 'Quill (USA).sfc'")
  const named = await start({ roms_ids: [rom?.id ?? 0] })
  letGo()
  t.equal((await finished(running)).status, 'finished')
  t.match(await finished(named), { status: 'finished', meta: { scan_stats: { scanned_roms: 1 } } })
})

t.test('exactly one of many concurrent library scans is accepted', async (t) => {
  await put({ 'roms/gg/Held.gg': 'held' })
  const letGo = holdScan()
  const answers = await Promise.all(Array.from({ length: 20 }, () => post()))
  letGo()
  const statuses = answers.map((answer) => answer.statusCode).sort()
  t.same(statuses, [202, ...Array.from({ length: 19 }, () => 409)])
  await finished(answers.find((answer) => answer.statusCode === 202)?.json<{ task_id: string }>().task_id ?? '')
})

t.test('a scan of named ROMs goes ahead of a waiting library scan', async (t) => {
  await put({ 'roms/gb/Held.gb': 'held' })
  const letGo = holdScan()
  const [rom] = await sql<{ id: number }>("select id from roms where fs_name = 'Quill (USA).sfc'")
  const first = await start({ roms_ids: [rom?.id ?? 0], type: 'complete', apis: ['digest'] })
  await until(() => digest.calls.length > 0, 'the first scan runs')
  const library = await start({ platform_fs_slugs: ['gb'] })
  const second = await start({ roms_ids: [rom?.id ?? 0] })
  letGo()
  await Promise.all([first, library, second].map(finished))
  const order = await sql<{ id: string }>('select id from tasks where id = any($1::uuid[]) order by started_at', [[first, library, second]])
  t.same(order.map((task) => task.id), [first, second, library])
})

t.test('a browser starts a scan over its socket and sees it to the end', async (t) => {
  await put({ 'roms/gba/Amber (USA).gba': 'amber', 'roms/gba/Birch.gba': 'birch', 'bios/gba/gba_bios.bin': 'bios' })
  alpha.identify = (rom) => rom.fs_name.startsWith('Amber') ? { id: 3, name: 'Amber by Alpha' } : null
  const browser = await connect(t, await logIn(admin.authorization))
  const guest = await connect(t, null)
  browser.socket.emit('scan', { type: 'quick', platform_fs_slugs: ['gba'] })
  await ended(browser)
  t.match(browser.of('scan:scanning_platform'), [{
    id: Number, slug: 'gba', fs_slug: 'gba', name: 'Game Boy Advance', display_name: 'Game Boy Advance', is_identified: true,
    new_firmware_count: 1
  }])
  const roms = browser.of('scan:scanning_rom') as Record<string, unknown>[]
  t.match(roms.find((rom) => rom.is_identifying === true), { fs_name: 'Amber (USA).gba', is_new: true, alpha_id: null })
  const last = roms.findLast((rom) => rom.fs_name === 'Amber (USA).gba')
  t.match(last, { name: 'Amber by Alpha', is_identifying: false, alpha_id: 3, is_identified: true })
  t.match(roms.findLast((rom) => rom.fs_name === 'Birch.gba'), { is_identifying: false, is_identified: false })
  for (const name of ['files', 'rom_user', 'sibling_roms', 'created_at', 'updated_at']) t.notOk(name in (last ?? {}), name)
  const stats = browser.of('scan:update_stats') as Record<string, number>[]
  for (const [index, now] of stats.entries()) {
    for (const [name, value] of Object.entries(stats[index - 1] ?? {})) t.ok((now[name] ?? 0) >= value, `${name} only grows`)
  }
  t.same(browser.of('scan:done'), [stats.at(-1)])
  t.match(stats.at(-1), { new_roms: 2, identified_roms: 1, scanned_firmware: 1, new_firmware: 1, total_platforms: 1 })
  await until(() => guest.of('scan:done').length === 1, 'every socket is told')
})

t.test('socket starts and stops of scans are audited, refused ones are not', async (t) => {
  await sql('delete from audit_events')
  const browser = await connect(t, await logIn(admin.authorization))
  const reader = await connect(t, await logIn((await test.createUser('unrecorded')).authorization))
  reader.socket.emit('scan', { type: 'quick' })
  await until(() => reader.of('scan:done_ko').length === 1, 'the reader is refused')
  browser.socket.emit('scan', { type: 'quick' })
  await ended(browser)
  browser.socket.emit('scan:stop')
  const scans = () => sql("select event, username, details from audit_events where event like 'scan.%' order by id")
  await until(async () => (await scans()).length === 2, 'both are on record')
  t.same(await scans(), [
    { event: 'scan.started', username: 'admin', details: { by: 'socket' } },
    { event: 'scan.stopped', username: 'admin', details: { by: 'socket' } }
  ])
})

t.test('the next scan can be requested as soon as clients get scan:done', async (t) => {
  const browser = await connect(t, await logIn(admin.authorization))
  for (let round = 0; round < 5; round++) {
    browser.received.length = 0
    browser.socket.emit('scan')
    await ended(browser)
    t.same(browser.of('scan:done_ko'), [])
  }
})

t.test('only the requesting socket gets the refusal of a scan', async (t) => {
  const reader = await test.createUser('watcher')
  const [browser, other, guest] = await Promise.all([
    connect(t, await logIn(admin.authorization)), connect(t, await logIn(reader.authorization)), connect(t, null)
  ])
  const refusals: [Client, string, unknown, RegExp][] = [
    [browser, 'scan', { type: 'fast', colour: 1 }, /^(?=.*type: must be equal to one of the allowed values: new_platforms, quick.*, not "fast")(?=.*colour: Unknown key 'colour')/],
    [browser, 'scan', { apis: 'alpha' }, /apis: /],
    [browser, 'scan', ['quick'], /payload: /],
    [other, 'scan', {}, /not authorized/],
    [guest, 'scan', {}, /not authorized/],
    [guest, 'scan:stop', {}, /not authorized/]
  ]
  for (const [client, event, payload, expected] of refusals) {
    client.socket.emit(event, payload)
    await until(() => client.received.length > 0, 'an answer')
    t.match(client.of('scan:done_ko'), [expected])
    for (const one of [browser, other, guest].filter((one) => one !== client)) t.same(one.received, [])
    client.received.length = 0
  }
})

t.test('only the requesting socket gets the refusal of a second library scan', async (t) => {
  await put({ 'roms/gbc/Held.gbc': 'held' })
  const [browser, other] = await Promise.all([
    connect(t, await logIn(admin.authorization)), connect(t, await logIn(admin.authorization))
  ])
  const letGo = holdScan()
  browser.socket.emit('scan', { platform_fs_slugs: ['gbc'] })
  await until(() => digest.calls.length > 0, 'the scan runs')
  other.socket.emit('scan', {})
  await until(() => other.of('scan:done_ko').length > 0, 'an answer')
  t.same(other.of('scan:done_ko'), ['A scan is already in progress'])
  t.same(browser.of('scan:done_ko'), [])
  letGo()
  await ended(browser)
})

t.test('stop ends a hanging scan, keeps finished work and drops queued scans', async (t) => {
  await put(Object.fromEntries(Array.from({ length: 30 }, (_none, index) => [`roms/psx/Game ${index}.bin`, `${index}`])))
  let answers = 0
  digest.identify = () => ++answers > 5 ? new Promise(() => {}) : { id: answers, name: `Found ${answers}` }
  const browser = await connect(t, await logIn(admin.authorization))
  browser.socket.emit('scan', { platform_fs_slugs: ['psx'], apis: ['digest'] })
  await until(() => answers > 8, 'the scan is in the middle')
  const [rom] = await sql<{ id: number }>("select id from roms where fs_name = 'Quill (USA).sfc'")
  const waiting = await start({ roms_ids: [rom?.id ?? 0] })
  browser.socket.emit('scan:stop')
  await ended(browser)
  t.match(browser.of('scan:done'), [{ new_roms: 30, scanned_roms: 30 }])
  t.equal((await finished(waiting)).status, 'canceled')
  t.match(await sql("select status from tasks where type = 'scan' order by created_at desc offset 1 limit 1"), [{ status: 'stopped' }])
  const found = (await test.roms('psx')).filter((one) => one.is_identified)
  t.equal(found.length, 5, 'what was found is kept')
})

t.test('a stop without a running scan gets no answer', async (t) => {
  const browser = await connect(t, await logIn(admin.authorization))
  browser.socket.emit('scan:stop')
  browser.socket.emit('scan', { type: 'nonsense' })
  await until(() => browser.received.length > 0, 'the answer to what came after')
  t.match(browser.received, [{ event: 'scan:done_ko', payload: /^type: / }])
})

t.test('all clients get the failure of a scan, with advice', async (t) => {
  const guest = await connect(t, null)
  await rename(libraryDir, `${libraryDir}-away`)
  const status = await scan()
  await rename(`${libraryDir}-away`, libraryDir)
  t.equal(status.status, 'failed')
  await until(() => guest.of('scan:done_ko').length > 0, 'all are told')
  t.match(guest.of('scan:done_ko'), [/Cannot read the library folder.*SVC_LIBRARY_DIR/])
})

t.test('scans and tasks are refused without a scan worker', async (t) => {
  const lonely: ScanTest = await buildScanTest(t, { providers: [], worker: false })
  for (const url of ['/api/tasks/scan', '/api/tasks/run/cleanup_missing_roms']) {
    const answer = await lonely.app.inject({ method: 'POST', url, headers: lonely.admin })
    t.match(answer, { statusCode: 503, body: /No scan worker is running/ }, url)
  }
})

t.test('svc scan refuses a platform folder that no library has', async (t) => {
  await put({ 'roms/new folder/Quill.bin': 'quill' })
  await t.rejects(runScan(app, { type: 'quick', platform: ['new folder', 'snse'], wait: false }),
    { message: /^There is no platform folder 'snse'\. The folders are: .*new folder/, exitCode: 2 })
})
