import { decodeJwt, decodeProtectedHeader } from 'jose'
import t from 'tap'
import { type Claims, createJwts } from '../../../plugins/auth/jwt.ts'
import { buildTestApp } from '../../support.ts'
import { createForm } from '../assets/support.ts'
import { basicHeaders, browserHeaders, readCookies } from './support.ts'
import { until } from '../../until.ts'

interface Tokens { access_token: string, refresh_token: string, scope: string }

t.test('the OAuth2 token endpoint', async (t) => {
  const { app, createUser } = await buildTestApp(t)
  await createUser('alice')
  await createUser('bob')
  await createUser('carol', 'admin')
  const db = app.db

  const ask = (form: Record<string, string>, headers = {}) => app.inject({
    method: 'POST',
    url: '/api/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(form).toString()
  })
  const grant = async (username: string, scope = 'me.read me.write roms.read') =>
    (await ask({ grant_type: 'password', username, password: 'a password', scope })).json<Tokens>()
  const refresh = (token: string) => ask({ grant_type: 'refresh_token', refresh_token: token })
  const call = (token: string, url = '/api/users/me') => app.inject({ url, headers: { authorization: `Bearer ${token}` } })
  const status = async (token: string, url?: string) => (await call(token, url)).statusCode

  await t.test('a password returns a pair of tokens and their lifetimes', async (t) => {
    const reply = await ask({ username: 'ALICE', password: 'a password', scope: 'me.read  roms.read' })
    t.equal(reply.statusCode, 200, reply.body)
    t.equal(reply.headers['cache-control'], 'no-store')
    const tokens = reply.json<Tokens>()
    t.match(tokens, {
      token_type: 'bearer', expires: 1800, expires_in: 1800, refresh_expires: 604800, scope: 'me.read roms.read'
    })
    t.match(decodeProtectedHeader(tokens.access_token), { alg: 'HS256' })
    const claims = decodeJwt(tokens.access_token)
    t.match(claims, { sub: 'alice', iss: 'svc:oauth', type: 'access', scopes: 'me.read roms.read', jti: undefined })
    t.equal((claims.exp ?? 0) - (claims.iat ?? 0), 1800)
    t.match(decodeJwt(tokens.refresh_token), { type: 'refresh', jti: /^[\w-]{43}$/ })
    t.equal((await call(tokens.access_token)).json<{ username: string }>().username, 'alice')
    const rows = JSON.stringify((await db.query('select * from one_time_tokens')).rows)
    t.notMatch(rows, String(decodeJwt(tokens.refresh_token).jti), 'only the hash is kept')
  })

  await t.test('a multipart form is read like a urlencoded one', async (t) => {
    const send = (parts: Parameters<typeof createForm>[0], url = '/api/token') => {
      const form = createForm(parts)
      return app.inject({ method: 'POST', url, headers: form.headers, payload: form.payload })
    }
    const user = [{ name: 'username', content: 'alice' }, { name: 'password', content: 'a password' }]
    const reply = await send([{ name: 'grant_type', content: 'password' }, ...user, { name: 'scope', content: 'me.read' }])
    t.equal(reply.statusCode, 200, reply.body)
    t.equal(await status(reply.json<Tokens>().access_token), 200)
    t.equal((await send(user, '/api/auth/login')).statusCode, 200)
    t.equal((await send([{ name: 'username', content: 'alice' }, { name: 'password', content: 'x'.repeat(20_000) }])).statusCode, 413)
    t.match((await send([...user, { name: 'avatar', content: 'x', fileName: 'a.png' }])).json(), { detail: /'avatar' is a file/ })
  })

  await t.test('a refused grant says why', async (t) => {
    await db.query("update users set enabled = false where username = 'bob'")
    const user = { username: 'alice', password: 'a password' }
    const cases: [number, Record<string, string>][] = [
      [400, { grant_type: 'client_credentials', client_id: 'x', client_secret: 'y' }],
      [400, { grant_type: 'authorization_code' }],
      [400, { grant_type: 'refresh_token' }],
      [400, { username: 'alice' }],
      [400, { password: 'a password' }],
      [401, { username: 'alice', password: 'wrong' }],
      [401, { username: 'nobody', password: 'a password' }],
      [401, { grant_type: 'refresh_token', refresh_token: 'x.y.z' }],
      [403, { username: 'bob', password: 'a password' }],
      [403, { ...user, scope: 'me.read users.write' }],
      [403, { ...user, scope: 'everything' }]
    ]
    for (const [expected, form] of cases) t.equal((await ask(form)).statusCode, expected, JSON.stringify(form))
    t.equal((await ask({}, basicHeaders('alice'))).statusCode, 400, 'the header is not read')
    await db.query("update users set enabled = true where username = 'bob'")
  })

  await t.test('Basic credentials of a program do not count as a failed sign-in', async (t) => {
    const form = { ...{ username: 'alice', password: 'a password' }, scope: 'me.read' }
    await db.query('delete from throttles')
    for (let i = 0; i < 12; i++) t.equal((await ask(form, basicHeaders('an-app', 'its secret'))).statusCode, 200)
    t.same((await db.query('select key from throttles')).rows, [])
  })

  await t.test('without scopes the token grants nothing', async (t) => {
    const { access_token: token, scope } = await grant('alice', '')
    t.equal(scope, '')
    t.equal(await status(token), 403)
    t.equal(await status(token, '/api/heartbeat'), 200)
  })

  await t.test('a refresh token works once, and its successor has the same scopes', async (t) => {
    const first = await grant('alice', 'me.read')
    const answers = await Promise.all([1, 2, 3].map(async () => (await refresh(first.refresh_token)).statusCode))
    t.same(answers.sort(), [200, 401, 401], 'also when it is sent several times at once')
    const second = await grant('alice', 'me.read')
    const third = (await refresh(second.refresh_token)).json<Tokens>()
    t.equal(third.scope, 'me.read')
    t.equal(await status(third.access_token), 200)
    t.equal(await status(third.access_token, '/api/roms'), 403)
    t.equal(await status(third.refresh_token), 401, 'it is no access token')
    t.equal((await refresh(third.access_token)).statusCode, 401, 'nor the other way round')
  })

  await t.test('a refresh token that is used twice ends its whole sign-in, and nothing else', async (t) => {
    const other = await grant('alice')
    const first = await grant('alice')
    const second = (await refresh(first.refresh_token)).json<Tokens>()
    t.equal(await status(first.access_token), 200, 'a refresh ends no access token')
    t.equal((await refresh(first.refresh_token)).statusCode, 401)
    t.equal((await refresh(second.refresh_token)).statusCode, 401)
    t.equal(await status(second.access_token), 401)
    t.equal(await status(other.access_token), 200)
    t.equal((await refresh(other.refresh_token)).statusCode, 200)
    const [event] = (await db.query<{ username: string }>("select username from audit_events where event = 'token.revoked'")).rows
    t.equal(event?.username, 'alice')
  })

  await t.test("a token loses its owner's lost scopes, and is void without the owner", async (t) => {
    const carol = await grant('carol', 'users.read me.read')
    t.equal(await status(carol.access_token, '/api/users'), 200)
    await db.query("update users set role = 'user' where username = 'carol'")
    await until(async () => await status(carol.access_token, '/api/users') === 403, 'it shrinks')
    t.equal(await status(carol.access_token), 200)
    await db.query("update users set enabled = false where username = 'carol'")
    await until(async () => await status(carol.access_token) === 401, 'it is nothing')
    t.equal((await refresh(carol.refresh_token)).statusCode, 401)
    const bob = await grant('bob')
    await db.query("delete from users where username = 'bob'")
    t.equal(await status(bob.access_token), 401)
    t.equal((await refresh(bob.refresh_token)).statusCode, 401)
    await createUser('bob')
    t.equal(await status(bob.access_token), 401, 'somebody else has the name now')
  })

  await t.test('an invalid token counts as not signed in', async (t) => {
    const jwts = createJwts(app.secrets)
    const { access_token: good } = await grant('alice')
    const { exp, iat, iss, type, ...claims } = decodeJwt<Claims>(good)
    t.equal(await status(await jwts.sign('access', claims, 60)), 200)
    const unsigned = [{ alg: 'none' }, { exp, iat, iss, type, ...claims }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    const bad = [
      'x.y.z', `${unsigned.join('.')}.AA`, `${good.slice(0, -3)}AAA`, await jwts.sign('access', claims, -1),
      await jwts.sign('reset', claims, 60), await jwts.sign('access', { ...claims, pwd: 'x' }, 60),
      await jwts.sign('access', { ...claims, sid: 'x' }, 60), await jwts.sign('access', { sub: 'alice' }, 60)
    ]
    for (const token of bad) {
      const reply = await call(token)
      t.equal(reply.statusCode, 401, token)
      t.equal(reply.headers['www-authenticate'], 'Bearer')
      t.equal(await status(token, '/api/heartbeat'), 200)
    }
  })

  await t.test('a changed password and signing out everywhere stop access tokens at once', async (t) => {
    const alice = await grant('alice')
    await db.query("update users set password_hash = (select password_hash from users where username = 'bob') where username = 'alice'")
    t.equal(await status(alice.access_token), 401)
    t.equal((await refresh(alice.refresh_token)).statusCode, 401)
    const again = await grant('alice')
    const cookies = readCookies(await app.inject({ method: 'POST', url: '/api/login', headers: basicHeaders('alice') }))
    t.equal((await app.inject({ method: 'DELETE', url: '/api/sessions', headers: browserHeaders(cookies) })).statusCode, 200)
    t.equal(await status(again.access_token), 401)
    t.equal((await refresh(again.refresh_token)).statusCode, 401)
  })
})
