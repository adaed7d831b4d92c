import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { io } from 'socket.io-client'
import t from 'tap'
import { type Peer, connectPeer, roomData } from '../plugins/netplay/support.ts'
import { createTestDatabase } from '../support.ts'
import { until } from '../until.ts'
import { START_MS, createUsedDataDir, isAlive, listChildren, runSvc, settings, tryFetch, waitUntilListening } from './server.ts'

const POLLS = 20
const WORKERS = 2
const PASSWORD = 'a long password'

// The path of a local socket in this test's own folder would be too long.
const dataDir = mkdtempSync(join(tmpdir(), 'svc-e2e-'))
t.teardown(() => { rmSync(dataDir, { recursive: true, force: true }) })
createUsedDataDir(dataDir)
const databaseUrl = await createTestDatabase(t)
const server = runSvc(t, ['start'], settings(dataDir, {
  WEB_SERVER_CONCURRENCY: String(WORKERS),
  SVC_DATABASE_URL: databaseUrl,
  SVC_ADMIN_USERNAME: 'chief',
  SVC_ADMIN_PASSWORD: PASSWORD
}))
const { url } = await waitUntilListening(server, dataDir)
const listSockets = () => readdirSync(join(dataDir, 'run')).filter((name) => name.endsWith('.sock'))
await until(async () => (await listChildren(server.pid, 'web')).length === WORKERS && listSockets().length === WORKERS,
  'all web workers', { ...server, ms: START_MS })
const path = '/ws/socket.io'
const endpoint = `${url}${path}/?EIO=4&transport=polling`
/** Sends each request on its own connection, so that the workers alternate. */
const poll = (query: string, init: RequestInit = {}) =>
  fetch(`${endpoint}${query}`, { ...init, headers: { connection: 'close', ...init.headers } })

async function open (): Promise<string> {
  const [, json] = /^0(\{.*\})/.exec(await (await poll('')).text()) ?? []
  return (JSON.parse(json ?? '{}') as { sid: string }).sid
}

t.test(`a session survives ${POLLS} requests, whichever worker gets them`, async (t) => {
  const sid = await open()
  t.match(sid, /^[0-9a-f]{20}-[12]-/)
  t.equal((await poll(`&sid=${sid}`, { method: 'POST', body: '40' })).status, 200)
  t.match(await (await poll(`&sid=${sid}`)).text(), /^40\{"sid"/)
  const statuses = []
  for (let count = 0; count < POLLS; count++) {
    statuses.push((await poll(`&sid=${sid}`, { method: 'POST', body: '42["unknown"]' })).status)
  }
  t.same(statuses, Array<number>(POLLS).fill(200))
})

t.test('every worker opens sessions', async (t) => {
  const owners = new Set<string | undefined>()
  for (let count = 0; count < 9; count++) owners.add((await open()).split('-')[1])
  t.same([...owners].sort(), ['1', '2'])
})

t.test('every worker refuses a body over the limit', async (t) => {
  const sid = await open()
  for (let count = 0; count < 3; count++) {
    const answer = await poll(`&sid=${sid}`, { method: 'POST', body: `4${'x'.repeat(1_100_000)}` }).catch(() => null)
    t.ok(answer === null || answer.status === 413, `answer ${answer?.status}`)
  }
})

t.test('a session of an ended worker is unknown, as clients expect', async (t) => {
  const answer = await poll(`&sid=${(await open()).split('-')[0]}-2-zzzz-0-gone`)
  t.equal(answer.status, 400)
  t.same(await answer.json(), { code: 1, message: 'Session ID unknown' })
})

t.test('a client that only polls stays connected', async (t) => {
  const socket = io(url, { path, transports: ['polling'], forceNew: true, reconnection: false })
  t.teardown(() => socket.disconnect())
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('connect_error', reject)
  })
  // A guest may not scan and gets a refusal: a round trip through any workers.
  for (let count = 0; count < 10; count++) {
    const refused = new Promise((resolve) => socket.once('scan:done_ko', resolve))
    socket.emit('scan', {})
    t.ok(await refused)
  }
  t.ok(socket.connected)
})

t.test('polling upgrades to a WebSocket although other workers get the request', async (t) => {
  const names = []
  for (let count = 0; count < 6; count++) {
    const socket = io(url, { path, transports: ['polling', 'websocket'], forceNew: true, reconnection: false })
    t.teardown(() => socket.disconnect())
    names.push(await new Promise<string>((resolve, reject) => {
      socket.once('connect_error', reject)
      socket.io.engine.once('upgrade', (transport: { name: string }) => { resolve(transport.name) })
      socket.io.engine.once('close', (reason: string) => { reject(new Error(reason)) })
    }))
  }
  t.same(names, Array<string>(6).fill('websocket'))
})

const headers = { authorization: `Basic ${Buffer.from(`chief:${PASSWORD}`).toString('base64')}` }
const login = await fetch(`${url}/api/login`, { method: 'POST', headers })
const cookie = login.headers.getSetCookie().map((line) => line.split(';')[0]).join('; ')
const database = new pg.Client({ connectionString: databaseUrl })
await database.connect()
t.teardown(() => database.end())
await database.query("insert into platforms (id, slug, fs_slug, name) values (1, 'snes', 'snes', 'SNES')")
await database.query(`insert into roms (id, platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext)
  values (7, 1, 'Kart.sfc', 'roms/snes', 'Kart', 'Kart')`)
/** Returns undefined while the request reaches a dying worker. */
async function findRoom (name: string): Promise<{ current: number, player_name: string } | undefined> {
  const answer = await tryFetch(`${url}/api/netplay/list?game_id=7`, { headers })
  return (await answer?.json() as Record<string, { current: number, player_name: string }> | undefined)?.[name]
}

/** Returns the process that holds a socket, which its session id names. */
const processOf = ({ socket }: Peer) => parseInt(String(Reflect.get(socket.io.engine, 'id')).split('-')[2] ?? '', 36)

/** Connects a peer whose socket is not in this process. */
async function connectElsewhere (pid: number): Promise<Peer> {
  return await until(async () => {
    const peer = await connectPeer(t, url, cookie)
    if (processOf(peer) !== pid) return peer
    peer.socket.disconnect()
    return null
  }, 'a socket of the other worker')
}

t.test('polling and WebSocket clients play together across workers', async (t) => {
  const polling = await connectPeer(t, url, cookie, 'polling')
  t.same(await polling.ask('open-room', roomData('polled', 'a', 7)), [])
  const other = await connectElsewhere(processOf(polling))
  t.match(await other.ask('join-room', roomData('polled', 'b', 7)), [null, { a: {}, b: {} }])
  for (let count = 0; count < 20; count++) polling.socket.emit('input', count)
  await until(() => other.heard('input').length === 20, 'all of it')
  other.socket.emit('data-message', Buffer.alloc(100_000, 1))
  await until(() => polling.heard('data-message').length === 1, 'the answer')
  t.ok(polling.socket.connected)
})

/** The id of a killed worker, which could not clean up. */
let killed = 0

t.test('players of a dead worker leave the room, and the next one owns it', async (t) => {
  const owner = await connectPeer(t, url, cookie)
  await owner.ask('open-room', roomData('orphaned', 'a', 7, { maxPlayers: 3 }))
  const guest = await connectElsewhere(processOf(owner))
  await guest.ask('join-room', roomData('orphaned', 'b', 7))
  const opener = await connectElsewhere(processOf(owner))
  killed = processOf(owner)
  process.kill(killed, 'SIGKILL')
  const room = await until(async () => {
    const found = await findRoom('orphaned')
    return found?.current === 1 && found
  }, 'the room has one player')
  t.equal(room.player_name, 'Name of b')
  t.same(await opener.ask('open-room', roomData('another', 'c', 7)), [])
  await until(() => Object.keys(guest.heard('users-updated').at(-1) ?? {}).join() === 'b', 'who is left is told')
})

t.test('SIGTERM ends all processes, with exit code 0', async (t) => {
  const children = await until(async () => {
    const [web, scan] = [await listChildren(server.pid, 'web'), await listChildren(server.pid, 'worker')]
    return web.length === WORKERS && scan.length > 0 && [...web, ...scan]
  }, 'web workers, also in place of the dead one, and the scan worker')
  server.child.kill('SIGTERM')
  t.match(await server.ended, { code: 0, signal: null })
  t.same(children.filter(isAlive), [])
  t.equal(await tryFetch(`${url}/api/heartbeat`), null)
})

t.test('the local sockets are deleted with the server', async (t) => {
  t.notOk(existsSync(join(dataDir, 'run', 'server.json')))
  t.same(listSockets().filter((name) => !name.endsWith(`-${killed.toString(36)}.sock`)), [])
})
