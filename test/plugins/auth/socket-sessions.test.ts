import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { mock } from 'node:test'
import { type Socket, io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { ADMIN_ROOM, userRoom } from '../../../core/sockets/sockets.ts'
import type { App } from '../../../core/typebox.ts'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { startSecondWorker } from '../tasks/workers-support.ts'

declare module '../../../core/sockets/sockets.ts' {
  interface ServerEvents { 'test:whisper': { text: string } }
}

const HALF_MINUTE_MS = 30_000

// The test decides when periodic checks run.
mock.timers.enable({ apis: ['setInterval'] })
t.teardown(() => { mock.timers.reset() })

const test = await buildTestApp(t)
const { app, admin } = test
const other = await startSecondWorker(t, test)

interface Login { cookie: string, csrf: string, headers: Record<string, string> }

async function logIn (username: string): Promise<Login> {
  const authorization = `Basic ${Buffer.from(`${username}:a password`).toString('base64')}`
  const reply = await app.inject({ method: 'POST', url: '/api/login', headers: { authorization } })
  if (reply.statusCode !== 200) throw new Error(`${username} was refused: ${reply.body}`)
  const cookies = new Map(reply.cookies.map(({ name, value }) => [name, value]))
  const csrf = cookies.get('svc_csrftoken') ?? ''
  const cookie = `svc_session=${cookies.get('svc_session')}; svc_csrftoken=${csrf}`
  return { cookie, csrf, headers: { cookie, 'x-csrftoken': csrf } }
}

/** Opens a socket, and returns it once it is connected to its session. */
async function connect (t: Pick<Test, 'teardown'>, at: App, cookie: string | null, userId: number | null): Promise<Socket> {
  const socket = io(`http://127.0.0.1:${(at.server.address() as AddressInfo).port}`, {
    path: '/ws/socket.io', transports: ['websocket'], forceNew: true, reconnection: false,
    ...(cookie === null ? {} : { extraHeaders: { cookie } })
  })
  t.teardown(() => { socket.disconnect() })
  await once(socket as never, 'connect')
  const room = userId === null ? null : userRoom(userId)
  if (room !== null) {
    await until(() => at.sockets.main.sockets.adapter.rooms.get(room)?.has(socket.id ?? '') === true, 'the socket is bound')
  }
  return socket
}

async function makeUser (name: string): Promise<{ id: number, login: Login }> {
  await test.createUser(name)
  const { rows: [row] } = await app.pg.query<{ id: number }>('select id from users where username = $1', [name])
  return { id: row?.id ?? 0, login: await logIn(name) }
}

/** Waits until the sockets are closed; fails if they stay open. */
async function areClosed (sockets: readonly Socket[]): Promise<boolean> {
  await until(() => sockets.every((socket) => !socket.connected), 'the sockets are closed')
  return true
}

t.test('signing out closes the sockets of only that session on every worker', async (t) => {
  const { id, login } = await makeUser('alice')
  const second = await logIn('alice')
  const own = [await connect(t, app, login.cookie, id), await connect(t, other, login.cookie, id)]
  const others = await connect(t, other, second.cookie, id)
  t.equal((await app.inject({ method: 'POST', url: '/api/logout', headers: login.headers })).statusCode, 200)
  t.ok(await areClosed(own))
  t.ok(others.connected)
})

t.test('a revoked session, a disabled and a deleted account lose their sockets', async (t) => {
  const acts: [string, (id: number, login: Login) => Promise<number>][] = [
    ['revoked', async (id, login) => {
      const own = await logIn('revoked')
      const { rows: [row] } = await app.pg.query<{ id: number }>(
        'select min(id) as id from sessions where user_id = $1', [id])
      t.ok(login.cookie !== own.cookie)
      return (await app.inject({ method: 'DELETE', url: `/api/sessions/${row?.id}`, headers: own.headers })).statusCode
    }],
    ['disabled', async (id) => (await app.inject({
      method: 'PUT', url: `/api/users/${id}`, headers: { ...admin, 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'enabled=false'
    })).statusCode],
    ['deleted', async (id) => (await app.inject({ method: 'DELETE', url: `/api/users/${id}`, headers: admin })).statusCode]
  ]
  for (const [name, act] of acts) {
    const { id, login } = await makeUser(name)
    const sockets = [await connect(t, app, login.cookie, id), await connect(t, other, login.cookie, id)]
    t.match(String(await act(id, login)), /^20\d$/, name)
    t.ok(await areClosed(sockets), name)
    const late = await connect(t, other, login.cookie, null)
    t.notOk(other.sockets.main.sockets.adapter.rooms.get(userRoom(id))?.has(late.id ?? ''), `${name}: it joins nothing any more`)
  }
})

t.test('a guest joins no room of a user, whatever it sends', async (t) => {
  const { id } = await makeUser('victim')
  const guest = await connect(t, app, null, null)
  const heard: unknown[] = []
  guest.onAny((...event: unknown[]) => { heard.push(event) })
  for (const event of ['join', 'subscribe', 'activity:start']) guest.emit(event, { user_id: id, room: userRoom(id) })
  app.sockets.publish(userRoom(id), 'test:whisper', { text: 'secret' })
  app.sockets.publish(null, 'test:whisper', { text: 'to all' })
  await until(() => heard.length > 0, 'what is for all arrives')
  t.same(heard, [['test:whisper', { text: 'to all' }]])
})

t.test('a former administrator receives no more events for administrators', async (t) => {
  const { id, login } = await makeUser('chief')
  await app.pg.query("update users set role = 'admin' where id = $1", [id])
  const socket = await connect(t, other, login.cookie, id)
  await until(() => other.sockets.main.sockets.adapter.rooms.get(ADMIN_ROOM)?.has(socket.id ?? '') === true, 'it is an admin')
  const reply = await app.inject({
    method: 'PUT', url: `/api/users/${id}`, headers: { ...admin, 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'role=user'
  })
  t.equal(reply.statusCode, 200)
  await until(() => other.sockets.main.sockets.adapter.rooms.get(ADMIN_ROOM)?.has(socket.id ?? '') !== true,
    'it left the room of administrators')
  t.ok(socket.connected)
})

t.test('a former administrator leaves their room within half a minute, even unannounced', async (t) => {
  const { id, login } = await makeUser('former')
  await app.pg.query("update users set role = 'admin' where id = $1", [id])
  const socket = await connect(t, app, login.cookie, id)
  const isAmongAdmins = () => app.sockets.main.sockets.adapter.rooms.get(ADMIN_ROOM)?.has(socket.id ?? '') === true
  await until(isAmongAdmins, 'it is an admin')
  await app.pg.query("update users set role = 'user' where id = $1", [id])
  // The caller may still be cached for a second.
  await until(() => {
    mock.timers.tick(HALF_MINUTE_MS)
    return !isAmongAdmins()
  }, 'it left the room of administrators')
  t.ok(socket.connected)
})

t.test('if a session cannot be looked up, its client is disconnected and reconnects', async (t) => {
  const { id, login } = await makeUser('patient')
  await app.pg.query('alter table sessions rename to sessions_elsewhere')
  t.teardown(() => app.pg.query('alter table if exists sessions_elsewhere rename to sessions'))
  const socket = io(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, {
    path: '/ws/socket.io', transports: ['websocket'], forceNew: true, reconnectionDelay: 50, extraHeaders: { cookie: login.cookie }
  })
  t.teardown(() => { socket.disconnect() })
  await once(socket as never, 'disconnect')
  await app.pg.query('alter table sessions_elsewhere rename to sessions')
  await until(() => app.sockets.main.sockets.adapter.rooms.get(userRoom(id))?.has(socket.id ?? '') === true, 'it is bound')
})
