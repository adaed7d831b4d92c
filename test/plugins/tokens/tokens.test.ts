import { io } from 'socket.io-client'
import t from 'tap'
import { networkOf } from '../../../core/config/networks.ts'
import { findEnabledUser } from '../../../plugins/auth/rows.ts'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { bearer, createCaller, dumpDatabase } from './support.ts'

const { app, admin: adminHeaders, createUser } = await buildTestApp(t)
const admin = createCaller(app, adminHeaders)
const aliceHeaders = await createUser('alice')
const alice = createCaller(app, aliceHeaders)
const bob = createCaller(app, await createUser('bob'))
const device = () => createCaller(app)
const TOKENS = '/api/client-tokens'
const SCOPES = ['me.read', 'roms.read']

const execute = async (sql: string, values: unknown[] = []) => { await app.pg.query(sql, values) }
const create = async (by = alice, extra: object = {}) =>
  (await by.post(TOKENS, { name: 'handheld', scopes: SCOPES, ...extra })).body
const statusOf = async (raw: string, url = '/api/users/me') => (await createCaller(app, bearer(raw)).get(url)).status
const listEvents = async () => {
  const page = await admin.get('/api/audit-log?limit=1000')
  return (page.body.items as { event: string, username: string, details: Record<string, unknown> }[])
}

t.test('of concurrent deletions of one object only the first succeeds', async (t) => {
  const { id: group } = (await admin.post('/api/permissions/groups', { name: 'Guests' })).body
  const { id: registered } = (await alice.post('/api/devices', { name: 'deck' })).body
  const urls = [`${TOKENS}/${(await create()).id}`, `/api/permissions/groups/${group}`, `/api/devices/${registered}`]
  for (const url of urls) {
    const headers = url.includes('groups') ? adminHeaders : aliceHeaders
    const answers = await Promise.all(Array.from({ length: 6 }, () => app.inject({ method: 'DELETE', url, headers })))
    const statuses = answers.map(({ statusCode }) => statusCode).sort()
    t.match(statuses, [/^20[04]$/, 404, 404, 404, 404, 404], url)
  }
})

t.test('a token has the lifetime with which it was created', async (t) => {
  for (const [lifetime, days] of [['30d', 30], ['90d', 90], ['1y', 365]] as const) {
    const token = await create(alice, { expires_in: lifetime })
    const left = Date.parse(token.expires_at) - Date.now()
    t.ok(Math.abs(left - days * 86_400_000) < 60_000, lifetime)
    await alice.delete(`${TOKENS}/${token.id}`)
  }
  const endless = await create(alice, { expires_in: null })
  t.match(endless, { id: Number, expires_at: null })
  await alice.delete(`${TOKENS}/${endless.id}`)
  const token = await create(alice, { expires_in: 'never' })
  t.match(token, { expires_at: null, last_used_at: null, device_id: null, device_number: null })
  t.equal((await alice.post(TOKENS, { name: 'x', scopes: SCOPES, expires_in: '2w' })).status, 422)
  t.equal((await alice.post(TOKENS, { name: 'a\0b', scopes: SCOPES })).status, 422)
  await alice.delete(`${TOKENS}/${token.id}`)
})

t.test('a user has at most 25 tokens, even if many are created at once', async (t) => {
  const carol = createCaller(app, await createUser('carol'))
  const made = await Promise.all(Array.from({ length: 30 }, () => carol.post(TOKENS, { name: 'x', scopes: SCOPES })))
  const statuses = made.map(({ status }) => status)
  t.equal(statuses.filter((status) => status === 201).length, 25)
  t.equal(statuses.filter((status) => status === 400).length, 5)
  t.equal((await carol.get(TOKENS)).body.length, 25)
})

t.test('a token with a new secret counts as unused, and the old secret is invalid', async (t) => {
  const token = await create(alice, { expires_in: '30d' })
  t.equal(await statusOf(token.raw_token), 200)
  const [used] = (await alice.get(TOKENS)).body
  t.match(used, { id: token.id, last_used_at: String })
  const renewed = await alice.put(`${TOKENS}/${token.id}/regenerate`)
  t.match(renewed.body, { id: token.id, scopes: SCOPES, expires_at: token.expires_at, last_used_at: null })
  t.equal(await statusOf(token.raw_token), 401)
  t.equal(await statusOf(renewed.body.raw_token), 200)
})

t.test('an account whose password changes or that is disabled meanwhile gets no token', async (t) => {
  await createUser('erin')
  const { rows: [row] } = await app.pg.query<{ id: number }>("select id from users where username = 'erin'")
  const user = await findEnabledUser(app.db, row?.id ?? 0)
  if (user === null) throw new Error('There is no such user')
  const by = { caller: await app.permissions.toCaller(user, { credential: 'session' }), address: '192.0.2.1' }
  const input = { name: 'x', scopes: ['me.read' as const] }
  const { token: { id } } = await app.tokens.create(app.db, by, input)
  for (const change of ["password_hash = 'other'", 'password_hash = $2, enabled = false']) {
    await execute(`update users set ${change} where id = $1`, change.includes('$2') ? [user.id, user.password_hash] : [user.id])
    await t.rejects(app.tokens.create(app.db, by, input), { code: 'NOT_AUTHENTICATED' }, change)
    await t.rejects(app.tokens.regenerate(app.db, by, id), { code: 'NOT_AUTHENTICATED' }, change)
  }
  const { rows } = await app.pg.query('select id from client_tokens where user_id = $1', [user.id])
  t.same(rows, [{ id }])
})

t.test('sockets of a token close when it is revoked or gets a new secret', async (t) => {
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const token = await create()
  const open = async () => {
    const client = io(url, { path: '/ws/socket.io', transports: ['websocket'], reconnection: false, forceNew: true })
    t.teardown(() => { client.disconnect() })
    await until(() => client.connected && app.sockets.main.sockets.sockets.has(client.id ?? ''), 'the socket is open')
    await app.sockets.main.sockets.sockets.get(client.id ?? '')?.join(`token:${token.id}`)
    return client
  }
  for (const end of [
    () => alice.put(`${TOKENS}/${token.id}/regenerate`),
    async () => {
      const { code } = (await alice.post(`${TOKENS}/${token.id}/pair`)).body
      return await device().post(`${TOKENS}/exchange`, { code })
    },
    () => admin.delete(`${TOKENS}/${token.id}/admin`)
  ]) {
    const client = await open()
    t.equal((await end()).status, 200)
    await until(() => !client.connected, 'the socket is closed')
  }
})

t.test("another user's token answers 404, except to an administrator", async (t) => {
  const token = await create()
  const place = `${TOKENS}/${token.id}`
  const tries = [bob.delete(place), bob.put(`${place}/regenerate`), bob.post(`${place}/pair`), admin.post(`${place}/pair`)]
  for (const { status } of await Promise.all(tries)) t.equal(status, 404)
  t.equal((await bob.get(`${TOKENS}/all`)).status, 403)
  t.equal((await bob.delete(`${place}/admin`)).status, 403)
  t.equal(await statusOf(token.raw_token), 200)

  const all = (await admin.get(`${TOKENS}/all`)).body as { id: number }[]
  t.match(all[0], { id: token.id, username: 'alice', user_avatar_path: '', user_updated_at: /\+00:00$/ })
  t.same(all.map(({ id }) => id), all.map(({ id }) => id).toSorted((a, b) => b - a), 'newest first')
  t.notMatch(JSON.stringify(all), /raw_token|token_hash/)
  t.equal((await admin.delete(`${place}/admin`)).body, null)
  t.equal(await statusOf(token.raw_token), 401)
  t.equal((await admin.delete(`${place}/admin`)).status, 404)
})

t.test('a token allows no more than its owner may do now', async (t) => {
  await createUser('dora', 'admin')
  const dora = createCaller(app, { authorization: `Basic ${btoa('dora:a password')}` })
  const token = await create(dora, { scopes: ['users.read', 'me.read'] })
  t.equal(await statusOf(token.raw_token, '/api/users'), 200)
  await execute("update users set role = 'user' where username = 'dora'")
  await until(async () => await statusOf(token.raw_token, '/api/users') === 403, 'a token that shrank with its owner')
  t.equal(await statusOf(token.raw_token), 200)
  await execute("update users set enabled = false where username = 'dora'")
  await until(async () => await statusOf(token.raw_token) === 401, 'a token that ended with its owner')
})

t.test('a code hands its token to one device, with a new secret', async (t) => {
  const token = await create()
  const { code, expires_in: seconds } = (await alice.post(`${TOKENS}/${token.id}/pair`)).body
  t.match(code, /^[A-HJKMNP-Z2-9]{8}$/)
  t.equal(seconds, 60)
  t.equal((await device().get(`${TOKENS}/pair/${code}/status`)).status, 200)
  const typed = `${code.slice(0, 4)}-${code.slice(4)}`.toLowerCase()
  t.equal((await device().get(`${TOKENS}/pair/${typed}/status`)).status, 200)

  const replies = await Promise.all(Array.from({ length: 8 }, () => device().post(`${TOKENS}/exchange`, { code: typed })))
  t.same(replies.map(({ status }) => status).sort(), [200, ...Array.from({ length: 7 }, () => 404)])
  const paired = replies.find(({ status }) => status === 200)?.body
  t.match(paired, { id: token.id, name: 'handheld', scopes: SCOPES })
  t.equal(await statusOf(paired.raw_token), 200)
  t.equal(await statusOf(token.raw_token), 401, 'the earlier secret')
  t.equal((await device().get(`${TOKENS}/pair/${code}/status`)).status, 404)
})

t.test('a code is valid for a minute, until a newer one, and while its token exists', async (t) => {
  const token = await create()
  const pair = async () => (await alice.post(`${TOKENS}/${token.id}/pair`)).body.code as string
  const exchange = async (code: string) => {
    const { status, body } = await device().post(`${TOKENS}/exchange`, { code })
    return status === 404 ? body.detail as string : status
  }
  const UNKNOWN = 'Invalid or expired pairing code'
  const first = await pair()
  const second = await pair()
  t.equal(await exchange(first), UNKNOWN)
  await execute("update pairing_codes set expires_at = now() - interval '1 second'")
  t.equal(await exchange(second), UNKNOWN)
  t.equal((await device().get(`${TOKENS}/pair/${second}/status`)).status, 404)
  const third = await pair()
  await execute("update users set enabled = false where username = 'alice'")
  t.equal(await exchange(third), 403)
  await execute("update users set enabled = true where username = 'alice'")
  await alice.delete(`${TOKENS}/${token.id}`)
  t.equal(await exchange(third), 'Token no longer exists')
  t.equal(await exchange(third), UNKNOWN, 'the code is used up')
  await app.tokens.pairing.dropExpired()
  t.equal((await app.pg.query('select 1 from pairing_codes where expires_at < now()')).rowCount, 0)
})

t.test('a token with a lifetime gets codes until it expires', async (t) => {
  const token = await create(alice, { expires_in: '30d' })
  t.equal((await alice.post(`${TOKENS}/${token.id}/pair`)).status, 200)
  await execute("update client_tokens set expires_at = now() - interval '1 second' where id = $1", [token.id])
  t.match(await alice.post(`${TOKENS}/${token.id}/pair`), { status: 400, body: { detail: /has expired/ } })
})

t.test('an address may try five codes a minute', async (t) => {
  const guesser = device()
  const statuses = []
  for (let i = 0; i < 6; i++) statuses.push((await guesser.post(`${TOKENS}/exchange`, { code: 'AAAA2222' })).status)
  t.same(statuses, [404, 404, 404, 404, 404, 429])
  const token = await create()
  const { code } = (await alice.post(`${TOKENS}/${token.id}/pair`)).body
  const refused = await guesser.post(`${TOKENS}/exchange`, { code })
  t.equal(refused.status, 429, 'a right one too')
  t.equal(refused.headers['retry-after'], '60', 'each try begins the minute anew')
  t.equal((await device().post(`${TOKENS}/exchange`, { code })).status, 200, 'from elsewhere')
  await execute("update throttles set blocked_until = now() - interval '1 second'")
  t.equal((await guesser.post(`${TOKENS}/exchange`, { code })).status, 404, 'a minute later')
})

t.test('addresses of one IPv6 network count as one', async (t) => {
  t.equal(networkOf('2001:db8:1:2:3::4'), networkOf('2001:db8:1:2:ffff::'))
  t.not(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
  t.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.7')
  t.equal(networkOf('fe80::1%eth0'), networkOf('fe80::2'))
})

t.test('the port that a proxy adds to an address starts no new count', async (t) => {
  t.equal(networkOf('192.0.2.7:5678'), '192.0.2.7')
  t.equal(networkOf('[2001:db8:1:2::1]:443'), networkOf('2001:db8:1:2::9'))
  t.equal(networkOf('[2001:db8:1:2::1]'), networkOf('2001:db8:1:2::9'))
  t.equal(networkOf('[::ffff:192.0.2.7]:80'), '192.0.2.7')
  t.equal(networkOf('2001:db8:1:2::5678'), networkOf('2001:db8:1:2::9'), 'the end of an IPv6 address is no port')
  t.equal(networkOf('unknown'), 'unknown')
})

t.test('changes of tokens are recorded, and the database contains no secret or code', async (t) => {
  const token = await create(bob, { name: 'lone \ud800 surrogate' })
  const { code } = (await bob.post(`${TOKENS}/${token.id}/pair`)).body
  const waiting = await dumpDatabase(app)
  const paired = (await device().post(`${TOKENS}/exchange`, { code })).body
  const renewed = (await bob.put(`${TOKENS}/${token.id}/regenerate`)).body
  const dump = waiting + await dumpDatabase(app)
  t.match(dump, /handheld/)
  for (const secret of [token.raw_token, paired.raw_token, renewed.raw_token, code]) {
    t.notOk(dump.includes(secret))
    t.notOk(dump.includes(secret.replace('svc_', '')))
  }
  await bob.delete(`${TOKENS}/${token.id}`)
  const events = (await listEvents()).filter(({ details }) => details.token_id === token.id)
  t.same(events.map(({ event }) => event), ['token.revoked', 'token.regenerated', 'token.paired', 'token.created'])
  t.same(new Set(events.map(({ username }) => username)), new Set(['bob']))
})
