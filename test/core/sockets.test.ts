import { EventEmitter } from 'node:events'
import { Type } from '@sinclair/typebox'
import pg from 'pg'
import { pino } from 'pino'
import type { Socket } from 'socket.io'
import type { Socket as Client } from 'socket.io-client'
import t, { type Test } from 'tap'
import { buildApp } from '../../core/app.ts'
import type { Queryable } from '../../core/database/db.ts'
import { withSession } from '../../core/database/session.ts'
import { createAdapterSession, createPublisher } from '../../core/sockets/adapter-session.ts'
import { type ClientEvent, ADMIN_ROOM, userRoom } from '../../core/sockets/sockets.ts'
import { limitRate, limitWaiting } from '../../core/sockets/traffic.ts'
import type { App } from '../../core/typebox.ts'
import { features } from '../../plugins/index.ts'
import { type TestApp, buildTestApp, createTestDatabase, shareTestApp } from '../support.ts'
import { until } from '../until.ts'
import { collect, connect, idOf, joined, listen, open, signIn } from './sockets-support.ts'

const fresh = shareTestApp(t)

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents { 'test:said': { text: string } }
}

const ActSchema = Type.Object({ rom_id: Type.Optional(Type.Integer()) }, { additionalProperties: false })

/** Returns the arguments of the next event with this name. */
function once (client: Client, event: string): Promise<unknown[]> {
  return new Promise((resolve) => { client.once(event, (...args: unknown[]) => { resolve(args) }) })
}

/** Declares an event that replies with its sender; for administrators only. */
function declareAct (app: App): void {
  const act: ClientEvent<{ rom_id?: number }> = {
    summary: 'Say who sent this',
    scopes: ['tasks.run'],
    schema: ActSchema,
    refuse (socket, reason) { socket.emit('test:refused', reason) },
    async handle (payload, caller, socket) {
      if (payload.rom_id === 500) throw new Error('the disk is full')
      socket.emit('test:done', { ...payload, username: caller.username })
    }
  }
  app.sockets.on('test:act', act)
}

/** Returns the number of connections to the database of a pool. */
async function countConnections (pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int from pg_stat_activity where datname = current_database()')
  return rows[0]?.count ?? NaN
}

let isActDeclared = false

/** Returns the shared server, with the event declared. */
async function withAct (t: Test): Promise<TestApp> {
  const test = await fresh(t)
  if (!isActDeclared) declareAct(test.app)
  isActDeclared = true
  return test
}

/** Sends the event and returns the reply: its name and payload. */
async function act (client: Client, ...payload: unknown[]): Promise<unknown[]> {
  const answer = Promise.race([
    once(client, 'test:done').then((args) => ['done', ...args]),
    once(client, 'test:refused').then((args) => ['refused', ...args])
  ])
  client.emit('test:act', ...payload)
  return await answer
}

t.test('a guest connects and gets public events, but may not act', async (t) => {
  const { app } = await withAct(t)
  const guest = await connect(t, app)
  t.match(guest.id, /\S/)
  const heard = collect(guest)
  app.sockets.publish(null, 'test:said', { text: 'to all' })
  app.sockets.publish(null, 'test:said', { text: 'end' })
  t.same(await heard, ['to all'])
  t.same(await act(guest, {}), ['refused', 'You are not authorized to do this'])
})

t.test('a login session gets events of its room; administrators also of theirs', async (t) => {
  const testApp = await fresh(t)
  const { app, createUser } = testApp
  await createUser('alice')
  const [alice, admin] = [await idOf(testApp, 'alice'), await idOf(testApp, 'admin')]
  const clients = {
    guest: await connect(t, app),
    alice: await connect(t, app, { cookie: await signIn(app, 'alice') }),
    admin: await connect(t, app, { cookie: await signIn(app, 'admin') })
  }
  await Promise.all([joined(app, userRoom(alice)), joined(app, userRoom(admin)), joined(app, ADMIN_ROOM)])
  const heard = Promise.all([collect(clients.guest), collect(clients.alice), collect(clients.admin)])
  app.sockets.publish(userRoom(alice), 'test:said', { text: 'to alice' })
  app.sockets.publish(ADMIN_ROOM, 'test:said', { text: 'to admins' })
  app.sockets.publish(null, 'test:said', { text: 'end' })
  t.same(await heard, [[], ['to alice'], ['to admins']])
})

t.test('an event is handled only for callers with its scope', async (t) => {
  const { app, createUser } = await withAct(t)
  await createUser('alice')
  const admin = await connect(t, app, { cookie: await signIn(app, 'admin') })
  t.same(await act(admin, { rom_id: 7 }), ['done', { rom_id: 7, username: 'admin' }])
  t.same(await act(admin), ['done', { username: 'admin' }], 'no payload is an empty one')
  const alice = await connect(t, app, { cookie: await signIn(app, 'alice') })
  t.same(await act(alice, {}), ['refused', 'You are not authorized to do this'])
})

t.test('an unknown key or a wrong type is refused and named', async (t) => {
  const { app } = await withAct(t)
  const admin = await connect(t, app, { cookie: await signIn(app, 'admin') })
  t.match(await act(admin, { rom_id: 1, playmate: true }), ['refused', /^playmate: Unknown key 'playmate'$/])
  t.match(await act(admin, { rom_id: 'seven' }), ['refused', /^rom_id: must be integer, not "seven"$/])
  t.match(await act(admin, 'text'), ['refused', /^payload: must be object, not "text"$/])
  t.match(await act(admin, []), ['refused', /payload/])
  t.same(await act(admin, { rom_id: 7 }), ['done', { rom_id: 7, username: 'admin' }], 'the socket goes on')
})

t.test('a failure on the server is reported without its reason', async (t) => {
  const { app } = await withAct(t)
  const admin = await connect(t, app, { cookie: await signIn(app, 'admin') })
  t.same(await act(admin, { rom_id: 500 }), ['refused', 'The server failed to handle this event; see its log'])
  t.same(await act(admin, {}), ['done', { username: 'admin' }])
})

t.test('a session that has ended may no longer act on its socket', async (t) => {
  const { app } = await withAct(t)
  const headers = { cookie: await signIn(app, 'admin') }
  const admin = await connect(t, app, headers)
  t.match(await act(admin, {}), ['done', {}])
  await app.pg.query('delete from sessions')
  await until(async () => (await app.inject({ url: '/api/users/me', headers })).statusCode === 401, 'the session has ended')
  const outcome = await Promise.race([
    act(admin, {}), once(admin, 'disconnect').then(() => ['refused', 'You are not authorized to do this'])
  ])
  t.same(outcome, ['refused', 'You are not authorized to do this'])
})

t.test('a page of another site cannot open a socket with its visitor\'s cookie', async (t) => {
  const { app } = await buildTestApp(t, {
    env: { SVC_CORS_ALLOWED_ORIGINS: 'https://app.example', SVC_BASE_URL: 'https://home.example' }
  })
  const url = await listen(app)
  for (const transport of ['websocket', 'polling'] as const) {
    await t.rejects(connect(t, app, { origin: 'https://evil.example', transport }), Error, transport)
    await t.rejects(connect(t, app, { origin: 'null', transport }), Error, transport)
    await t.rejects(connect(t, app, { origin: 'https://app.example.evil.example', transport }), Error, transport)
    for (const origin of [url, 'https://app.example', 'https://home.example']) {
      t.equal((await connect(t, app, { origin, transport })).connected, true, `${origin} by ${transport}`)
    }
  }
})

t.test('events arrive in the order of their publishing', async (t) => {
  const { app } = await fresh(t)
  const heard = collect(await connect(t, app))
  const texts = Array.from({ length: 100 }, (_, count) => String(count))
  for (const text of texts) app.sockets.publish(null, 'test:said', { text })
  app.sockets.publish(null, 'test:said', { text: 'end' })
  t.same(await heard, texts)
})

/** Connects, and waits until the socket is in its rooms. @returns the milliseconds since the last event */
async function join (t: Test, app: App, cookie: string): Promise<number> {
  const client = await open(t, app, { cookie, joined: true })
  const [{ quiet_ms: quietMs }] = await once(client, 'socket:joined') as [{ quiet_ms: number }]
  return quietMs
}

t.test('a socket that asks learns that it joined, and how long no event was sent', async (t) => {
  const { app, config, databaseUrl } = await fresh(t)
  const cookie = await signIn(app, 'admin')
  const first = await join(t, app, cookie)
  t.ok(app.sockets.main.sockets.adapter.rooms.has(ADMIN_ROOM))
  t.ok(await join(t, app, cookie) >= first, 'no event since')

  const other = await buildApp({ config, role: 'web', databaseUrl, logger: pino({ level: 'silent' }), features })
  t.teardown(() => other.close())
  await other.ready()
  const heard = collect(await connect(t, app))
  const before = performance.now()
  other.sockets.publish(null, 'test:said', { text: 'end' })
  await heard
  const quietMs = await join(t, app, cookie)
  t.ok(quietMs <= performance.now() - before, `an event of another process was ${quietMs} ms ago`)
})

t.test('the endpoint works with and without a slash, and ids name host and worker', async (t) => {
  const { app } = await fresh(t)
  const url = await listen(app)
  for (const path of ['/ws/socket.io', '/ws/socket.io/']) {
    const reply = await fetch(`${url}${path}?EIO=4&transport=polling`)
    t.equal(reply.status, 200, path)
    t.match(await reply.text(), /^0\{"sid":"[0-9a-f]{20}-1-/)
  }
})

t.test('a socket that floods the server is closed', async (t) => {
  const { app } = await fresh(t)
  const guest = await connect(t, app)
  const gone = once(guest, 'disconnect')
  for (let count = 0; count < 300; count++) guest.emit('noise', count)
  t.match(await gone, { 0: /./ })
  t.equal(guest.connected, false)
})

t.test('a client that sends more than a few large messages at once is closed', async (t) => {
  const closed: unknown[] = []
  const connection = Object.assign(new EventEmitter(), { close: (discard: boolean) => closed.push(discard) })
  limitRate(connection as never)
  for (const data of ['x'.repeat(1_000_000), Buffer.alloc(1_000_000)]) {
    for (let count = 0; count < 4; count++) connection.emit('packet', { type: 'message', data })
  }
  t.same(closed, [])
  connection.emit('packet', { type: 'message', data: 'x' })
  t.same(closed, [true])
})

t.test('a client that reads too slowly is closed, and a merely slow one is not', async (t) => {
  const closed: unknown[] = []
  const connection = Object.assign(new EventEmitter(), { close: (discard: boolean) => closed.push(discard) })
  limitWaiting(connection as never)
  const data = 'x'.repeat(1_000_000)
  for (let count = 0; count < 100; count++) {
    connection.emit('packetCreate', { type: 'message', data })
    if (count % 16 === 15) connection.emit('flush')
  }
  connection.emit('flush')
  t.same(closed, [])
  for (let count = 0; count < 17; count++) connection.emit('packetCreate', { type: 'message', data })
  t.same(closed, [true])
})

for (const [what, count] of [['a second one', 2], ['more than it may', 100_000]] as const) {
  t.test(`a connection that opens a namespace again and again is closed: ${what}`, async (t) => {
    const { app } = await fresh(t)
    const url = `${await listen(app)}/ws/socket.io?EIO=4&transport=polling`
    const { sid } = JSON.parse((await (await fetch(url)).text()).slice(1)) as { sid: string }
    const opened: Socket[] = []
    const note = (socket: Socket) => { if (Reflect.get(socket.conn, 'id') === sid) opened.push(socket) }
    app.sockets.main.on('connection', note)
    t.teardown(() => { app.sockets.main.off('connection', note) })
    // The response may be cut off with the connection.
    await fetch(`${url}&sid=${sid}`, { method: 'POST', body: Array<string>(count).fill('40').join('\x1e') }).catch(() => {})
    await until(async () => (await fetch(`${url}&sid=${sid}`)).status === 400, 'the end of the session')
    t.ok(opened.length <= 2, `${opened.length} sockets`)
    t.ok(opened.every((socket) => !socket.connected))
  })
}

t.test('an event cannot be declared twice', async (t) => {
  const { app } = await withAct(t)
  t.throws(() => { declareAct(app) }, { message: /'test:act' is declared twice/ })
})

t.test('a web worker that fails before its sockets are attached ends with its error', async (t) => {
  const { config, databaseUrl } = await fresh(t)
  const app = await buildApp({ config, role: 'web', databaseUrl, logger: pino({ level: 'silent' }), features })
  app.workers.listen = () => Promise.reject(new Error('no channel'))
  await t.rejects(async () => { await app.ready() }, { message: 'no channel' })
  await t.resolves(app.close())
})

t.test('a web worker closed before its sockets are connected ends', async (t) => {
  const { config, databaseUrl } = await fresh(t)
  const app = await buildApp({ config, role: 'web', databaseUrl, logger: pino({ level: 'silent' }), features })
  await t.resolves(app.close())
})

/** Opens a connection that listens, and returns the payloads of its notifications. */
async function hear (t: Test, connectionString: string, channel: string): Promise<string[]> {
  const heard: string[] = []
  const client = new pg.Client({ connectionString })
  await client.connect()
  t.teardown(() => client.end())
  client.on('notification', ({ payload = '' }) => { heard.push(payload) })
  await client.query(`listen ${channel}`)
  return heard
}

t.test('adapters share the session of their process, and hear of their own channels', async (t) => {
  const { app } = await fresh(t)
  const adapters = createAdapterSession(app.workers)
  const connections = await countConnections(app.pg)
  const heard: string[] = []
  for (const channel of ['main#/', 'other#/']) {
    const adapter = await adapters.connect()
    adapter.on('notification', ({ payload }) => { heard.push(`${channel} ${payload}`) })
    await adapter.query(`LISTEN "${channel}"`)
  }
  for (const channel of ['main#/', 'other#/']) await adapters.query('SELECT pg_notify($1, $2)', [channel, `to ${channel}`])
  await until(() => heard.length === 2, 'each notification')
  t.strictSame(heard, ['main#/ to main#/', 'other#/ to other#/'])
  // The pool closes and opens connections for other work meanwhile.
  t.ok(await until(async () => await countConnections(app.pg) <= connections, 'no connection of an adapter'))
})

t.test('a process that closes tells the others so before its session ends', async (t) => {
  const warnings: unknown[] = []
  const log = (line: Record<string, unknown>) => { if (Number(line.level) >= 40) warnings.push(line) }
  const { app, databaseUrl } = await buildTestApp(t, { log })
  const heard = await hear(t, databaseUrl, '"socket.io#/devices"')
  await app.close()
  t.strictSame(warnings, [])
  await until(() => heard.some((text) => text.includes('"type":13')), 'the end of its adapter')
})

t.test('events of one tick are one statement and arrive in order', async (t) => {
  const url = await createTestDatabase(t)
  const heard = await hear(t, url, 'said')
  let statements = 0
  await withSession({ connectionString: url }, async (client) => {
    const query: Queryable['query'] = (text, values) => {
      statements++
      return client.query(text, values)
    }
    const publish = createPublisher({ query })
    const say = (text: string) => publish('said', text)
    await Promise.all(['one', 'two', '{"three":"\\"}'].map(say))
    t.equal(statements, 1)
    await Promise.all(['again', 'again'].map(say))
    t.equal(statements, 3, 'the database would take the same twice in one for one')
    await say('last')
  })
  await until(() => heard.includes('last'), 'the last event')
  t.strictSame(heard, ['one', 'two', '{"three":"\\"}', 'again', 'again', 'last'])
})

t.test('events that wait for the lock of notifications do not block the session', async (t) => {
  const url = await createTestDatabase(t)
  const heard = await hear(t, url, 'said')
  await withSession({ connectionString: url }, (holder) => withSession({ connectionString: url }, async (session) => {
    // Only a commit that waits for a standby holds the real lock.
    await holder.query(`create table held (); create function public.pg_notify (channel text, payload text) returns void as
      'lock table held; select pg_catalog.pg_notify(channel, payload)' language sql`)
    await holder.query('begin; lock table held')
    await session.query('set search_path to public, pg_catalog; set lock_timeout to 20')
    const publish = createPublisher(session)
    const sent = [publish('said', 'one')]
    await session.query('select 1')
    sent.push(publish('said', 'two'))
    for (let round = 0; round < 3; round++) await session.query('select 1')
    t.strictSame(heard, [])
    await holder.query('commit')
    await Promise.all(sent)
  }))
  await until(() => heard.length === 2, 'both events')
  t.strictSame(heard, ['one', 'two'])
})
