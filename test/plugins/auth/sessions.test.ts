import { once } from 'node:events'
import { connect } from 'node:net'
import { io } from 'socket.io-client'
import pg from 'pg'
import t from 'tap'
import { ApiError } from '../../../core/errors.ts'
import { describeBrowser } from '../../../plugins/devices/browser.ts'
import { blockedBy, buildTestApp } from '../../support.ts'
import { basicHeaders, signIn } from './support.ts'
import { until } from '../../until.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const SAFARI = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) ' +
  'Version/18.0 Mobile/15E148 Safari/604.1'
const EDGE = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 ' +
  'Edg/138.0.0.0'

interface SessionView { id: number, is_current: boolean }
type Headers = Record<string, string>

t.test('a browser and its system are read from the User-Agent', async (t) => {
  t.same(describeBrowser(FIREFOX), { name: 'Firefox on Linux', version: '140' })
  t.same(describeBrowser(SAFARI), { name: 'Safari on iOS', version: '18' })
  t.same(describeBrowser(EDGE), { name: 'Edge on Windows', version: '138' })
  t.same(describeBrowser('curl/8.5.0'), { name: 'curl', version: '8' })
  t.same(describeBrowser('Mozilla/5.0'), { name: 'Browser', version: null })
  t.same(describeBrowser(''), { name: 'Browser', version: null })
})

t.test('sessions', async (t) => {
  const { app, createUser, databaseUrl } = await buildTestApp(t, { env: { SESSION_ABSOLUTE_MAX_AGE_SECONDS: '2000000' } })
  await createUser('alice')
  await createUser('bob')
  const db = app.db
  const address = await app.listen({ port: 0, host: '127.0.0.1' })

  const list = async (headers: Headers) => (await app.inject({ url: '/api/sessions', headers })).json<SessionView[]>()
  const status = async (headers: Headers, url = '/api/users/me') => (await app.inject({ url, headers })).statusCode
  const end = async (headers: Headers, what = '') =>
    (await app.inject({ method: 'DELETE', url: `/api/sessions${what}`, headers })).statusCode
  const idOf = async (headers: Headers) => (await list(headers)).find((session) => session.is_current)?.id ?? 0

  /** Opens a socket of a session, and waits until it has joined its rooms. */
  async function connect (headers: Headers) {
    const client = io(address, { path: '/ws/socket.io', transports: ['websocket'], forceNew: true, reconnection: false, extraHeaders: headers })
    t.teardown(() => { client.disconnect() })
    const room = `session:${await idOf(headers)}`
    await until(() => app.sockets.main.sockets.adapter.rooms.has(room), 'the socket is bound')
    return client
  }

  await t.test('the list shows address and browser of each session, and marks the current one', async (t) => {
    const home = await signIn(app, 'alice', { address: '192.0.2.1', userAgent: FIREFOX })
    const phone = await signIn(app, 'alice', { address: '192.0.2.2', userAgent: SAFARI })
    await signIn(app, 'bob')
    const sessions = await list(home)
    t.match(sessions.toSorted((a, b) => a.id - b.id), [
      { user_agent: FIREFOX, address: '192.0.2.1', is_current: true, created_at: /\+00:00$/, last_seen: /\+00:00$/ },
      { user_agent: SAFARI, address: '192.0.2.2', is_current: false, device_id: /^[0-9a-f-]{36}$/ }
    ])
    t.equal(sessions.length, 2)
    t.notMatch(JSON.stringify(sessions), 'token')
    t.equal(await end(phone), 200)
    t.equal((await list(phone)).length, 1)
  })

  await t.test('concurrent sign-ins create one device for a browser at each address', async (t) => {
    await db.query("delete from devices where user_id = (select id from users where username = 'alice')")
    const headers = await Promise.all([1, 2].map(async () => await signIn(app, 'alice', { address: '192.0.2.7', userAgent: FIREFOX })))
    await signIn(app, 'alice', { address: '192.0.2.8', userAgent: FIREFOX })
    const devices = (await db.query<{ ip_address: string, device_id: string }>("select * from devices where user_id = (select id from users where username = 'alice') order by id")).rows
    t.match(devices, [
      { name: 'Firefox on Linux', platform: 'Web', client: 'web', client_version: '140', sync_mode: 'api', ip_address: '192.0.2.7' },
      { ip_address: '192.0.2.8' }
    ])
    t.equal(devices.length, 2)
    for (const one of headers) {
      const me = (await app.inject({ url: '/api/users/me', headers: one })).json<{ current_device_id: string }>()
      t.equal(me.current_device_id, devices[0]?.device_id)
    }
  })

  await t.test('an ended session is refused, and its socket is closed', async (t) => {
    const [ending, staying] = [await signIn(app, 'alice'), await signIn(app, 'alice')]
    const [closed, open] = [await connect(ending), await connect(staying)]
    t.equal(await end(staying, `/${await idOf(ending)}`), 200)
    await until(() => closed.disconnected, 'the socket is closed')
    t.equal(await status(ending), 401)
    t.equal(await status(staying), 200)
    t.ok(open.connected)
    t.match((await db.query("select username from audit_events where event = 'session.revoked'")).rows,
      [{ username: 'alice' }, { username: 'alice' }], 'for the session of the phone, and this one')
  })

  await t.test('signing out closes the socket', async (t) => {
    const headers = await signIn(app, 'alice')
    const client = await connect(headers)
    t.equal((await app.inject({ method: 'POST', url: '/api/logout', headers })).body, 'null')
    await until(() => client.disconnected, 'the socket is closed')
    t.equal(await status(headers), 401)
  })

  await t.test("a request for another user's session answers 404", async (t) => {
    const [alice, bob] = [await signIn(app, 'alice'), await signIn(app, 'bob')]
    t.equal(await end(bob, `/${await idOf(alice)}`), 404)
    t.equal(await end(bob, '/2147483647'), 404)
    t.equal(await end(bob, '?include_current=true'), 200)
    t.equal(await status(bob), 401)
    t.equal(await status(alice), 200)
  })

  await t.test('all other sessions end at once, or all with the current one and its cookie', async (t) => {
    const [one, two, three] = [await signIn(app, 'alice'), await signIn(app, 'alice'), await signIn(app, 'alice')]
    t.equal(await end(one), 200)
    t.same([await status(one), await status(two), await status(three)], [200, 401, 401])
    const reply = await app.inject({ method: 'DELETE', url: '/api/sessions?include_current=true', headers: one })
    t.equal(reply.statusCode, 200)
    t.match(reply.cookies.find(({ name }) => name === 'svc_session'), { value: '' })
    t.equal(await status(one), 401)
  })

  await t.test('use extends a session, but never beyond its maximum age', async (t) => {
    const headers = await signIn(app, 'alice')
    const id = await idOf(headers)
    const cookieOf = async () => (await app.inject({ url: '/api/users/me', headers })).cookies.find(({ name }) => name === 'svc_session')
    const left = async () => {
      const [row] = (await db.query<{ seconds: number }>(
        'select extract(epoch from expires_at - now())::int as seconds from sessions where id = $1', [id])).rows
      return row?.seconds ?? 0
    }
    t.equal(await cookieOf(), undefined, 'not at every request')
    await db.query("update sessions set seen_at = now() - interval '6 minutes', expires_at = now() + interval '1 day' where id = $1", [id])
    const renewed = await until(cookieOf, 'the session is moved on')
    t.match(renewed, { maxAge: 1209600, httpOnly: true, sameSite: 'Lax' })
    t.ok(await left() > 1209590)
    await db.query("update sessions set seen_at = now() - interval '6 minutes', created_at = now() - interval '1999000 seconds' where id = $1", [id])
    await until(async () => { await cookieOf(); return await left() <= 1000 }, 'it ends at its greatest age')
    await db.query("update sessions set expires_at = now() + interval '1 day', created_at = now() - interval '2000001 seconds' where id = $1", [id])
    await until(async () => await status(headers) === 401, 'it is too old')
  })

  await t.test('V11: a request that runs while its session ends does not bring it back', async (t) => {
    const headers = await signIn(app, 'alice')
    const id = await idOf(headers)
    await db.query("update sessions set seen_at = now() - interval '1 hour' where id = $1", [id])
    // A sign-in invalidates the cached callers, so their next requests read the database.
    const other = await signIn(app, 'alice')
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    t.teardown(() => client.end())
    await client.query('begin; lock table rom_users in access exclusive mode')
    const slow = app.inject({ url: '/api/roms', headers })
    await until(async () => (await db.query(blockedBy('rom_users'))).rows.length > 0, 'the request waits for the table')
    t.equal(await end(other, `/${id}`), 200)
    await client.query('commit')
    const reply = await slow
    t.equal(reply.statusCode, 200)
    t.equal(reply.cookies.find(({ name }) => name === 'svc_session'), undefined, 'its cookie is not renewed')
    t.equal(await status(headers), 401)
    t.equal(((await db.query('select 1 from sessions where id = $1', [id])).rows).length, 0)
  })

  /** Opens another connection that locks a user's row until the test releases it. */
  async function holdAccount (sql: string) {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    t.teardown(() => client.end())
    await client.query(`begin; ${sql}`)
    const countWaiting = async () => ((await db.query(
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()")).rows).length
    return {
      letGo: () => client.query('commit'),
      waiting: (count: number) => until(async () => await countWaiting() >= count, `${count} wait for the account`)
    }
  }

  await t.test('a sign-in during a change of the password opens no session', async (t) => {
    const held = await holdAccount("update users set password_hash = null where username = 'bob'")
    const login = app.inject({ method: 'POST', url: '/api/login', headers: basicHeaders('bob') })
    await held.waiting(1)
    await held.letGo()
    t.equal((await login).statusCode, 401)
  })

  await t.test('V11: a refresh during a sign-out everywhere does not outlive it', async (t) => {
    const headers = await signIn(app, 'alice')
    const ask = (form: Record<string, string>) => app.inject({
      method: 'POST',
      url: '/api/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(form).toString()
    })
    const tokens = (await ask({ username: 'alice', password: 'a password' })).json<{ refresh_token: string }>()
    const held = await holdAccount("select 1 from users where username = 'alice' for update")
    const refreshing = ask({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token })
    await held.waiting(1)
    const ending = end(headers)
    await held.waiting(2)
    await held.letGo()
    t.equal((await refreshing).statusCode, 200)
    t.equal(await ending, 200)
    t.same((await db.query("select 1 from one_time_tokens where purpose = 'refresh'")).rows, [])
  })

  await t.test('expired sessions and tokens are deleted', async (t) => {
    await signIn(app, 'alice')
    await db.query("update sessions set expires_at = now() - interval '1 second'")
    await app.sessions.dropExpired()
    t.same((await db.query('select 1 from sessions')).rows, [])
  })
})

t.test('a refusal before authentication leaves the cookies of a session as they are', async (t) => {
  const { app, createUser } = await buildTestApp(t)
  await createUser('alice')
  const port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
  const headers = await signIn(app, 'alice')
  let isLost = false
  app.auth.addScheme({
    name: 'lost',
    order: -1,
    opensSockets: false,
    async authenticate () {
      if (isLost) throw new ApiError('UNAVAILABLE')
      return null
    }
  })
  isLost = true
  const lost = await app.inject({ url: '/api/users/me', headers })
  t.match(lost, { statusCode: 503, headers: { 'set-cookie': undefined } }, 'the database is lost')
  isLost = false

  // The second request arrives on a connection that a request keeps open while the server closes.
  const body = JSON.stringify({ username: 'alice', password: 'wrong' })
  const lines = Object.entries({ ...headers, host: 'svc' }).map(([name, value]) => `${name}: ${String(value)}\r\n`).join('')
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => { chunks.push(chunk) })
  const heard = once(app.server, 'request')
  socket.write(`POST /api/login HTTP/1.1\r\n${lines}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 9)}`)
  await heard
  const closed = app.close()
  await until(() => !app.server.listening, 'the server closes')
  socket.write(`${body.slice(9)}GET /api/users/me HTTP/1.1\r\n${lines}\r\n`)
  await once(socket, 'close')
  await closed
  const last = Buffer.concat(chunks).toString().split('HTTP/1.1 ').at(-1) ?? ''
  t.match(last, /^503 [^]*retry-after: 2[^]*is closing; try again/i)
  t.notMatch(last, /set-cookie/i)
})
