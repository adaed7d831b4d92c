import { once } from 'node:events'
import { mock } from 'node:test'
import type { Socket } from 'socket.io-client'
import t, { type Test } from 'tap'
import { features } from '../../../plugins/index.ts'
import { setPassword } from '../../../plugins/users/cli.ts'
import { userRoom } from '../../../core/sockets/sockets.ts'
import { type TestApp, buildTestApp } from '../../support.ts'
import { guestHeaders, signIn } from './support.ts'
import { openSocket, pairDevice } from '../devices/support.ts'
import { linkOf, startMail } from '../mail/support.ts'
import { until } from '../../until.ts'
import { bearer, createCaller } from '../tokens/support.ts'
import { startSecondWorker } from '../tasks/workers-support.ts'

// Periodic checks must not be the reason why a socket ends.
mock.timers.enable({ apis: ['setInterval'] })
t.teardown(() => { mock.timers.reset() })

const { mails, server, env } = await startMail('https://games.example.org')
t.teardown(() => new Promise<void>((resolve) => { server.close(() => { resolve() }) }))
const test = await buildTestApp(t, { env })
const { app, admin, databaseUrl } = test
const other = await startSecondWorker(t, test)

async function makeUser (name: string): Promise<{ id: number, headers: Record<string, string> }> {
  const headers = await test.createUser(name)
  const { rows: [row] } = await app.pg.query<{ id: number }>(
    "update users set email = username || '@example.org' where username = $1 returning id", [name])
  return { id: row?.id ?? 0, headers }
}

/** Opens one socket of a browser and one of a device at each worker, connected to their owner. */
async function connectAll (t: Pick<Test, 'teardown'>, userId: number, cookie: string, token: string) {
  const open = async (at: TestApp['app'], namespace: '/' | '/devices') => {
    const handshake = namespace === '/' ? { headers: { cookie } } : { auth: { token } }
    const socket = openSocket(t, at, { namespace, ...handshake })
    await once(socket as never, 'connect')
    const { adapter } = at.sockets.main.of(namespace)
    await until(() => adapter.rooms.get(userRoom(userId))?.has(socket.id ?? '') === true, 'the socket is bound')
    return socket
  }
  return {
    browsers: [await open(app, '/'), await open(other, '/')],
    devices: [await open(app, '/devices'), await open(other, '/devices')]
  }
}

const waitUntilClosed = (sockets: readonly Socket[]) =>
  until(() => sockets.every((socket) => !socket.connected), 'the sockets are closed')

async function resetByLink (name: string, extra: object): Promise<void> {
  mails.length = 0
  const headers = await guestHeaders(app)
  await app.inject({ method: 'POST', url: '/api/forgot-password', headers, payload: { username: name } })
  await until(() => mails.length === 1, 'the link is mailed')
  const token = /\?token=([\w.-]+)$/.exec(linkOf(mails[0] ?? '') ?? '')?.[1]
  const payload = { token, new_password: 'a new password', ...extra }
  const reply = await app.inject({ method: 'POST', url: '/api/reset-password', headers, payload })
  if (reply.statusCode !== 200) throw new Error(reply.body)
}

async function setByCommand (t: Pick<Test, 'testdir' | 'teardown'>, name: string, keepTokens: boolean): Promise<void> {
  const env = { SVC_DATABASE_URL: databaseUrl, SVC_DATA_DIR: t.testdir({}), SVC_NEW_PASSWORD: 'a new password' }
  Object.assign(process.env, env)
  t.teardown(() => { for (const name of Object.keys(env)) Reflect.deleteProperty(process.env, name) })
  await setPassword(features, name, { keepTokens })
}

interface Owner { id: number, headers: Record<string, string> }
type Change = (t: Test, user: Owner, name: string, keeps: boolean) => Promise<unknown>
const CHANGES: Record<string, Change> = {
  owner: (_t, { id, headers }, _name, keeps) =>
    createCaller(app, headers).put(`/api/users/${id}`, { password: 'a new password', keep_tokens: keeps }),
  administrator: (_t, { id }, _name, keeps) =>
    createCaller(app, admin).put(`/api/users/${id}`, { password: 'a new password', keep_tokens: keeps }),
  link: (_t, _user, name, keeps) => resetByLink(name, { keep_tokens: keeps }),
  command: (t, _user, name, keeps) => setByCommand(t, name, keeps)
}

for (const [by, change] of Object.entries(CHANGES)) {
  t.test(`V11: a new password by the ${by} ends all former sign-ins within 2 s`, async (t) => {
    const user = await makeUser(`ended-by-${by}`)
    const owner = createCaller(app, user.headers)
    const device = await pairDevice(app, owner)
    const { body: { code } } = await owner.post(`/api/client-tokens/${device.token_id}/pair`)
    const waiting = createCaller(app)
    const { body: codes } = await waiting.post('/api/auth/device/init', {
      client_device_identifier: by, name: by, client: 'test', requested_scopes: ['me.read']
    })
    await owner.post('/api/auth/device/approve', { user_code: codes.user_code, approved_scopes: ['me.read'] })
    await app.pg.query(`insert into one_time_tokens (token_hash, purpose, user_id, expires_at)
      values ($1, 'invite', $2, now() + interval '1 day')`, [by, user.id])
    const browser = await signIn(app, `ended-by-${by}`)
    const { browsers, devices } = await connectAll(t, user.id, browser.cookie, device.token)

    await change(t, user, `ended-by-${by}`, false)
    await waitUntilClosed([...browsers, ...devices])
    for (const headers of [user.headers, browser, bearer(device.token)]) {
      t.equal((await other.inject({ url: '/api/users/me', headers })).statusCode, 401)
    }
    t.equal((await waiting.post('/api/client-tokens/exchange', { code })).status, 404, 'the pairing code')
    t.match(await waiting.post('/api/auth/device/token', { device_code: codes.device_code }), { body: { detail: 'expired_token' } })
    t.equal((await app.pg.query('select 1 from one_time_tokens where user_id = $1', [user.id])).rowCount, 0, 'invites too')
  })

  t.test(`a new password by the ${by} keeps tokens and devices on request`, async (t) => {
    const user = await makeUser(`kept-by-${by}`)
    const device = await pairDevice(app, createCaller(app, user.headers))
    const browser = await signIn(app, `kept-by-${by}`)
    const { browsers, devices } = await connectAll(t, user.id, browser.cookie, device.token)
    await change(t, user, `kept-by-${by}`, true)
    await waitUntilClosed(browsers)
    t.equal((await other.inject({ url: '/api/users/me', headers: browser })).statusCode, 401)
    t.equal((await other.inject({ url: '/api/users/me', headers: bearer(device.token) })).statusCode, 200)
    t.ok(devices.every((socket) => socket.connected))
  })
}

interface Attempt { owner: ReturnType<typeof createCaller>, userId: number, tokenId: number, userCode: string }
/** Requests with which somebody who knows the former password could keep access. */
const ATTEMPTS: Record<string, (attempt: Attempt) => Promise<{ status: number }>> = {
  'makes a token': ({ owner }) => owner.post('/api/client-tokens', { name: 'late', scopes: ['me.read'] }),
  'renews a token': ({ owner, tokenId }) => owner.put(`/api/client-tokens/${tokenId}/regenerate`),
  'hands a token on': ({ owner, tokenId }) => owner.post(`/api/client-tokens/${tokenId}/pair`),
  'lets a device in': ({ owner, userCode }) =>
    owner.post('/api/auth/device/approve', { user_code: userCode, approved_scopes: ['me.read'] }),
  'invites somebody': ({ owner }) => owner.post('/api/users/invite-link?role=user'),
  'sets a password': ({ owner, userId }) => owner.put(`/api/users/${userId}`, { password: 'back to mine' })
}

t.test('a request with the former password that runs after the change gets nothing (V11)', async (t) => {
  for (const [index, [name, attempt]] of Object.entries(ATTEMPTS).entries()) {
    const username = `late-${index}`
    const { id: userId, headers } = await makeUser(username)
    await app.pg.query("update users set role = 'admin' where id = $1", [userId])
    const owner = createCaller(app, headers)
    const { token_id: tokenId } = await pairDevice(app, owner)
    const { body: { user_code: userCode } } = await createCaller(app).post('/api/auth/device/init', {
      client_device_identifier: username, name: username, client: 'test', requested_scopes: ['me.read']
    })
    const stateOf = async () => JSON.stringify((await app.pg.query(`select password_hash,
      (select jsonb_agg(token_hash order by id) from client_tokens where user_id = u.id) as tokens,
      (select count(*) from pairing_codes c join client_tokens k on k.id = c.token_id where k.user_id = u.id) as codes,
      (select count(*) from one_time_tokens where user_id = u.id) as invites from users u where id = $1`, [userId])).rows)

    const holder = await app.pg.connect()
    await holder.query('begin')
    await holder.query('select 1 from users where id = $1 for no key update', [userId])
    const late = attempt({ owner, userId, tokenId, userCode })
    await until(async () => (await app.pg.query(`select 1 from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock' and query ~ 'from users where'`)).rowCount === 1, `${name}: it waits for the account`)
    await holder.query("update users set password_hash = 'another' where id = $1", [userId])
    await holder.query('commit')
    holder.release()
    const before = await stateOf()
    t.equal((await late).status, 401, name)
    t.equal(await stateOf(), before, `${name}: nothing of it is left`)
  }
})
