import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type Socket, io } from 'socket.io-client'
import t from 'tap'
import { readServerState } from '../../core/supervisor/server-state.ts'
import { freePort } from '../free-port.ts'
import { type Peer, connectPeer, roomData } from '../plugins/netplay/support.ts'
import { startBroker } from '../plugins/streaming/support.ts'
import { createTestDatabase } from '../support.ts'
import { until } from '../until.ts'
import { startRoundRobin } from './round-robin.ts'
import {
  type Command, START_MS, createUsedDataDir, listChildren, runSvc, runSvcAhead, settings, tryFetch
} from './server.ts'

// Two hosts on one database: the first with two web workers and a scan worker, the second a lone web worker. Its clock
// is five minutes ahead.

const PASSWORD = 'a long password'
const AHEAD_MS = 300_000
const path = '/ws/socket.io'
const SVC_DATABASE_URL = await createTestDatabase(t)

const broker = await startBroker(t)
/** The machine that games are watched from, in the settings of both hosts. */
const MACHINE = { platform: 'snes', host: 'https://stream.example', broker_host: broker.address, broker_secret: 'hush' }

function createDataDir (): string {
  // The path of a local socket in this test's own folder would be too long.
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-host-'))
  t.teardown(() => { rmSync(dataDir, { recursive: true, force: true }) })
  createUsedDataDir(dataDir)
  // JSON is YAML, too.
  writeFileSync(join(dataDir, 'config.yml'), JSON.stringify({ streaming: { enabled: true, containers: [MACHINE] } }))
  return dataDir
}

/** Returns the settings of a host with its own address. */
const settingsOf = async (dataDir: string, address: string) => settings(dataDir, {
  SVC_HOST: address,
  SVC_INTERNAL_ADDRESS: `${address}:${await freePort()}`,
  SVC_DATABASE_URL,
  SVC_AUTH_SECRET_KEY: 'one key of all hosts',
  SVC_ADMIN_USERNAME: 'chief',
  SVC_ADMIN_PASSWORD: PASSWORD,
  SVC_METRICS: 'true'
})

interface Host { command: Command, url: string }

async function startWhole (): Promise<Host> {
  const dataDir = createDataDir()
  const command = runSvc(t, ['start'], await settingsOf(dataDir, '127.0.0.2'))
  const port = await until(() => readServerState(dataDir)?.port, 'the first host', { ...command, ms: START_MS })
  await until(async () => (await listChildren(command.pid, 'web')).length === 2, 'its web workers', { ...command, ms: START_MS })
  return { command, url: `http://127.0.0.2:${port}` }
}

async function startWeb (): Promise<Host> {
  const dataDir = createDataDir()
  const command = runSvcAhead(t, AHEAD_MS, ['web'], await settingsOf(dataDir, '127.0.0.3'))
  const [, url = ''] = await until(() => /"url":"([^"]+)"/.exec(command.output()), 'the second host', { ...command, ms: START_MS })
  return { command, url }
}

const first = await startWhole()
const second = await startWeb()
const hosts = [first, second]
const proxy = await startRoundRobin(t, hosts.map(({ url }) => url))
const endpoint = `${proxy.url}${path}/?EIO=4&transport=polling`

async function open (): Promise<string> {
  const [, json] = /^0(\{.*\})/.exec(await (await fetch(endpoint)).text()) ?? []
  return (JSON.parse(json ?? '{}') as { sid: string }).sid
}

const hostOf = (sid: string) => sid.split('-')[0]

interface Options { transports: ('polling' | 'websocket')[], cookie?: string, url?: string, reconnection?: boolean }

async function connect ({ transports, cookie, url = proxy.url, reconnection = false }: Options): Promise<Socket> {
  const socket = io(url, {
    path, transports, forceNew: true, reconnection, reconnectionDelay: 100, reconnectionDelayMax: 500,
    ...(cookie === undefined ? {} : { extraHeaders: { cookie } })
  })
  t.teardown(() => socket.disconnect())
  await until(() => socket.connected, `a socket at ${url}`, first.command)
  return socket
}

async function signIn (url: string, username = 'chief') {
  const login = await fetch(`${url}/api/login`, {
    method: 'POST', headers: { authorization: `Basic ${Buffer.from(`${username}:${PASSWORD}`).toString('base64')}` }
  })
  const cookies = login.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
  const csrf = cookies.find((cookie) => cookie.includes('csrf'))?.split('=')[1] ?? ''
  return { cookie: cookies.join('; '), csrf }
}

t.test('both hosts open sessions, and each host answers for all of them', async (t) => {
  const sids = [await open(), await open(), await open(), await open()]
  t.equal(new Set(sids.map(hostOf)).size, 2, sids.join())
  const statuses = []
  for (const sid of sids) {
    statuses.push((await fetch(`${endpoint}&sid=${sid}`, { method: 'POST', body: '40' })).status)
    t.match(await (await fetch(`${endpoint}&sid=${sid}`)).text(), /^40\{"sid"/)
    for (let count = 0; count < 6; count++) {
      statuses.push((await fetch(`${endpoint}&sid=${sid}`, { method: 'POST', body: '42["unknown"]' })).status)
    }
  }
  t.same(new Set(statuses), new Set([200]))
  t.ok(proxy.counts.every((count) => count > 10), `both hosts got requests: ${proxy.counts.join()}`)
})

t.test('a session of a host that does not exist is unknown', async (t) => {
  const answer = await fetch(`${endpoint}&sid=${'0'.repeat(20)}-0-1-0-x`)
  t.equal(answer.status, 400)
  t.same(await answer.json(), { code: 1, message: 'Session ID unknown' })
})

t.test('a client that only polls stays connected without stickiness', async (t) => {
  for (const { url } of hosts) await tryFetch(`${url}/api/heartbeat`)
  const sockets = await Promise.all(Array.from({ length: 4 }, () => connect({ transports: ['polling'] })))
  for (const socket of sockets) {
    // A guest may not scan and gets a refusal: a round trip through any host.
    for (let count = 0; count < 5; count++) {
      const refused = new Promise((resolve) => socket.once('scan:done_ko', resolve))
      socket.emit('scan', {})
      t.ok(await refused)
    }
    t.ok(socket.connected)
  }
})

t.test('polling upgrades to a WebSocket although the other host gets the request', async (t) => {
  for (let count = 0; count < 4; count++) {
    const socket = await connect({ transports: ['polling', 'websocket'] })
    await until(() => socket.io.engine.transport.name === 'websocket', 'the upgrade', second.command)
    const refused = new Promise((resolve) => socket.once('scan:done_ko', resolve))
    socket.emit('scan', {})
    t.ok(await refused)
  }
})

t.test('a session that ends on one host is out on the other within seconds', async (t) => {
  const { cookie, csrf } = await signIn(first.url)
  const headers = { cookie, 'x-csrftoken': csrf }
  const socket = await connect({ transports: ['websocket'], cookie, url: second.url })
  const isIn = async () => (await fetch(`${second.url}/api/users/me`, { headers })).status === 200
  t.ok(await isIn(), 'the other host knows the session')
  const logout = await fetch(`${first.url}/api/logout`, { method: 'POST', headers })
  t.equal(logout.status, 200, await logout.text())
  await until(async () => !socket.connected && !await isIn(), 'the end on the other host', { ...second.command, ms: 10_000 })
})

t.test('administrators read the log of one host on the other', async (t) => {
  const authorization = `Basic ${Buffer.from('stranger:wrong').toString('base64')}`
  await fetch(`${second.url}/api/login`, { method: 'POST', headers: { authorization } })
  const { cookie } = await signIn(first.url)
  const lines = async () => await (await fetch(`${first.url}/api/logs?limit=200`, { headers: { cookie } })).text()
  t.ok(await until(async () => (await lines()).includes('username=stranger'), 'the line of the other host', first.command))
})

/** Sends a request to a host as the administrator. */
async function ask<T> ({ url }: Host, method: string, route: string, body?: object | FormData): Promise<T> {
  const isForm = body instanceof FormData
  const answer = await fetch(`${url}${route}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`chief:${PASSWORD}`).toString('base64')}`,
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' })
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) })
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${route}: ${answer.status} ${text}`)
  return JSON.parse(text) as T
}

/** Adds a ROM with the id 7. */
async function addRom (): Promise<void> {
  const database = new pg.Client({ connectionString: SVC_DATABASE_URL })
  await database.connect()
  await database.query("insert into platforms (id, slug, fs_slug, name) values (1, 'snes', 'snes', 'SNES')")
  await database.query(`insert into roms (id, platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext)
    values (7, 1, 'Kart.sfc', 'roms/snes', 'Kart', 'Kart')`)
  await database.end()
}

const createDevice = (host: Host, name: string) => ask<{ device_id: string }>(host, 'POST', '/api/devices', { name })

t.test('people on one host see who plays on the other', async (t) => {
  await addRom()
  const { cookie } = await signIn(first.url)
  const socket = await connect({ transports: ['websocket'], cookie, url: first.url })
  const updates: { rom_id: number }[] = []
  socket.on('activity:update', (entry: { rom_id: number }) => { updates.push(entry) })
  const { device_id: device } = await createDevice(second, 'Deck')
  await ask(second, 'POST', '/api/activity/heartbeat', { rom_id: 7, device_id: device })
  await until(() => updates.length > 0, 'the event on the other host', first.command)
  t.match(updates, [{ rom_id: 7 }])
  t.match(await ask(first, 'GET', '/api/activity'), [{ rom_id: 7, username: 'chief' }])
})

t.test('a game that one host starts is watched and ended on the other', async (t) => {
  const { cookie } = await signIn(first.url)
  const socket = await connect({ transports: ['websocket'], cookie, url: first.url })
  const events: string[] = []
  socket.onAny((name: string, { platform }: { platform?: string }) => { events.push(`${name} ${platform}`) })
  const route = '/api/streaming/sessions'
  const { claimed_at: claimedAt } = await ask<{ claimed_at: string }>(second, 'POST', route, { rom_id: 7 })
  // The clock of this host is five minutes ahead.
  t.ok(Math.abs(Date.parse(claimedAt) - Date.now()) < 60_000, claimedAt)
  await until(() => events.includes('streaming:launch-ready snes'), 'the start on the other host', first.command)
  for (const host of hosts) t.match(await ask(host, 'GET', `${route}/snes/status`), { status: 'active', host: MACHINE.host })
  await t.rejects(ask(first, 'POST', route, { rom_id: 7 }), /409/, 'the machine is busy for both')
  t.match(await ask(first, 'POST', `${route}/snes/heartbeat`), { status: String })
  t.match(await ask(first, 'POST', `${route}/snes/volume`, { level: 30 }), {})
  t.match(await ask(first, 'DELETE', `${route}/snes`), { status: 'released' })
  t.equal(broker.askedFor('DELETE /launch').length, 1)
  t.not((await ask<{ status: string }>(second, 'GET', `${route}/snes/status`)).status, 'active')
})

t.test('a player on one host learns that an administrator of the other ended the game', async (t) => {
  await ask(first, 'POST', '/api/users', { username: 'player', email: 'player@example.org', password: PASSWORD, role: 'user' })
  const { cookie, csrf } = await signIn(first.url, 'player')
  const socket = await connect({ transports: ['polling'], cookie, url: first.url })
  const events: string[] = []
  socket.onAny((name: string) => { events.push(name) })
  const claim = await fetch(`${second.url}/api/streaming/sessions`, {
    method: 'POST', headers: { cookie, 'x-csrftoken': csrf, 'content-type': 'application/json' }, body: JSON.stringify({ rom_id: 7 })
  })
  t.equal(claim.status, 202, await claim.text())
  await until(() => events.includes('streaming:launch-ready'), 'the start', first.command)
  t.match(await ask(second, 'DELETE', '/api/streaming/sessions'), { status: 'released', platforms: [String] })
  await until(() => events.includes('streaming:session-ended'), 'the end', first.command)
})

t.test('hosts whose clocks are five minutes apart agree about times', async (t) => {
  const { device_id: device } = await createDevice(first, 'Phone')
  const saves: { id: number, updated_at: string }[] = []
  for (const host of [second, first]) {
    const form = new FormData()
    form.append('saveFile', new File([`save ${saves.length}`], `Game ${saves.length}.srm`))
    saves.push(await ask(host, 'POST', `/api/saves?rom_id=7&slot=${saves.length}`, form))
  }
  const times = saves.map(({ updated_at: time }) => Date.parse(time))
  t.ok(times.every((time) => Math.abs(time - Date.now()) < 60_000), times.join())
  t.ok((times[0] ?? 0) <= (times[1] ?? 0) + 2_000, 'later writes have later times')
  const negotiate = async (host: Host, changedMs: number) => (await ask<{ operations: object[] }>(host, 'POST', '/api/sync/negotiate', {
    device_id: device,
    saves: saves.map((_save, index) => ({
      rom_id: 7, file_name: `Game ${index}.srm`, slot: String(index), emulator: null, updated_at: new Date(changedMs).toISOString(), file_size_bytes: 3
    }))
  })).operations
  for (const [changedMs, action] of [[Date.now() + 120_000, 'upload'], [Date.now() - 120_000, 'download']] as const) {
    const [here, there] = [await negotiate(first, changedMs), await negotiate(second, changedMs)]
    t.match(here, [{ action }, { action }])
    t.same(here, there)
  }
  const { id } = await ask<{ id: number }>(second, 'POST', '/api/client-tokens', { name: 'Phone', scopes: ['me.read'] })
  for (const [from, to] of [[first, second], [second, first]] as const) {
    const { code } = await ask<{ code: string }>(from, 'POST', `/api/client-tokens/${id}/pair`)
    t.match(await ask(to, 'POST', '/api/client-tokens/exchange', { code }), { raw_token: String }, 'a code of one minute')
  }
})

t.test('each host measures its own processes and sockets', async (t) => {
  const read = async ({ url }: Host) => await (await fetch(`${url}/metrics`, {
    headers: { authorization: `Basic ${Buffer.from(`chief:${PASSWORD}`).toString('base64')}` }
  })).text()
  const [here, there] = [await read(first), await read(second)]
  const listProcesses = (text: string) => [...new Set([...text.matchAll(/process="([^"]+)"/g)].map(([, name]) => name))].sort()
  t.same(listProcesses(here), ['scan worker', 'supervisor', 'web worker 1', 'web worker 2'])
  t.same(listProcesses(there), ['web'])
  for (const text of [here, there]) t.ok(/^svc_sockets\{endpoint="\/ws\/socket.io",namespace="\/"\} \d/m.test(text))
})

/** Returns the names of the open rooms of a game, as a host lists them. */
async function listRooms ({ url }: Host, cookie: string): Promise<string[]> {
  const answer = await tryFetch(`${url}/api/netplay/list?game_id=7`, { headers: { cookie } })
  return answer?.status === 200 ? Object.keys(await answer.json() as object) : []
}

/** Peers whose sockets stay open until the end of the file. */
const parent = t
let guest: Peer | null = null

t.test('people on different hosts play together', async (t) => {
  const [{ cookie }, there] = [await signIn(first.url), await signIn(second.url)]
  const owner = await connectPeer(parent, second.url, there.cookie)
  guest = await connectPeer(parent, first.url, cookie)
  t.same(await owner.ask('open-room', roomData('both', 'a', 7, { maxPlayers: 3 })), [])
  t.same(await listRooms(first, cookie), ['both'])
  t.match(await guest.ask('join-room', roomData('both', 'b', 7)), [null, { a: {}, b: {} }])
  for (let count = 0; count < 20; count++) owner.socket.emit('input', count)
  await until(() => guest?.heard('input').length === 20, 'all of it', first.command)
  guest.socket.emit('data-message', Buffer.alloc(100_000, 1))
  await until(() => owner.heard('data-message').length === 1, 'the answer', second.command)
})

t.test('sockets of a killed host are on the other host within 10 s', async (t) => {
  const sockets = await Promise.all(Array.from({ length: 12 }, (_, index) => connect({
    transports: [index % 2 === 0 ? 'polling' : 'websocket'], reconnection: true
  })))
  const lost: unknown[] = []
  for (const socket of sockets) socket.on('disconnect', (reason) => { lost.push(reason) })
  const listHosts = () => sockets.map(({ io: { engine } }) => hostOf(String(Reflect.get(engine, 'id'))))
  t.equal(new Set(listHosts()).size, 2, 'both hosts have some')
  second.command.child.kill('SIGKILL')
  await second.command.ended
  const endedAt = performance.now()
  await until(() => sockets.every(({ connected }) => connected) && new Set(listHosts()).size === 1,
    'all sockets on the first host', { ...first.command, ms: 60_000 })
  t.ok(performance.now() - endedAt < 10_000, `${performance.now() - endedAt} ms, ${lost.join()}`)
})

t.test('players of a killed host leave the room', async (t) => {
  const isAlone = () => Object.keys((guest?.heard('users-updated').at(-1) ?? {})).join() === 'b'
  t.ok(await until(isAlone, 'the remaining player', first.command))
})
