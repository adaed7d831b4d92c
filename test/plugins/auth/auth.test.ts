import t from 'tap'
import { signInKeys } from '../../../plugins/auth/throttle/limits.ts'
import { type TestApp, shareTestApp } from '../../support.ts'
import { until } from '../../until.ts'

const fresh = shareTestApp(t)

type Cookies = Record<string, string>

const cookieHeader = (cookies: Cookies) => Object.entries(cookies).map(([name, value]) => `${name}=${value}`).join('; ')

/** Reads the cookies that a browser stores from a response. */
function readCookies (reply: { cookies: unknown[] }): Cookies {
  const cookies = reply.cookies as { name: string, value: string }[]
  return Object.fromEntries(cookies.map(({ name, value }) => [name, value]))
}

async function signIn ({ app, admin }: TestApp): Promise<Cookies> {
  const reply = await app.inject({ method: 'POST', url: '/api/login', headers: admin })
  if (reply.statusCode !== 200) throw new Error(`sign-in failed: ${reply.body}`)
  return readCookies(reply)
}

const TOKEN = { name: 'handheld', scopes: ['roms.read', 'me.read'] }

t.test('a login opens a session whose cookie no script can read', async (t) => {
  const test = await fresh(t)
  const reply = await test.app.inject({ method: 'POST', url: '/api/login', headers: test.admin })
  t.equal(reply.statusCode, 200)
  t.equal(reply.body, 'null')
  const session = (reply.cookies as Record<string, unknown>[]).find((cookie) => cookie.name === 'svc_session')
  t.match(session, { httpOnly: true, sameSite: 'Lax', path: '/' })
  t.notOk(session?.secure, 'not over plain http')
  const me = await test.app.inject({ url: '/api/users/me', headers: { cookie: cookieHeader(readCookies(reply)) } })
  t.equal(me.json().username, 'admin')
})

t.test('a wrong password, an unknown name and a disabled account get the same answer', async (t) => {
  const { app, createUser } = await fresh(t)
  await createUser('alice')
  await createUser('bob')
  await app.db.query("update users set enabled = false where username = 'bob'")
  const answers = await Promise.all([['alice', 'wrong'], ['nobody', 'a password'], ['bob', 'a password']].map(async (pair) => {
    const authorization = `Basic ${Buffer.from(pair.join(':')).toString('base64')}`
    const reply = await app.inject({ method: 'POST', url: '/api/login', headers: { authorization } })
    return `${reply.statusCode} ${reply.body}`
  }))
  t.same(new Set(answers), new Set(['401 {"detail":"Incorrect username or password"}']))
})

t.test('the space that a keyboard adds to a username does not matter, nor does case', async (t) => {
  const { app, createUser } = await fresh(t)
  await createUser('alice')
  const send = async (username: string, password: string) => (await app.inject({
    url: '/api/users/me', headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
  })).statusCode
  for (const username of ['Alice', 'alice ', ' alice']) {
    t.equal(await send(username, 'a password'), 200, `'${username}'`)
    t.equal(await send(username, 'a password '), 401, 'a space in the password does')
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } } as const
    const payload = new URLSearchParams({ username, password: 'a password', scope: 'me.read' }).toString()
    t.equal((await app.inject({ ...form, url: '/api/token', payload })).statusCode, 200, `'${username}'`)
    t.equal((await app.inject({ ...form, url: '/api/auth/login', payload })).statusCode, 200, `'${username}'`)
  }
  t.equal(signInKeys('alice', '192.0.2.7').account, signInKeys(' ALICE', '192.0.2.7').account, 'guesses count as one')
})

t.test('signing in again opens a new session and ends the old one', async (t) => {
  const test = await fresh(t)
  const first = await signIn(test)
  const again = await test.app.inject({
    method: 'POST', url: '/api/login',
    headers: { ...test.admin, cookie: cookieHeader(first), 'x-csrftoken': first.svc_csrftoken ?? '' }
  })
  t.equal(again.statusCode, 200, again.body)
  t.not(readCookies(again).svc_session, first.svc_session)
  const old = await test.app.inject({ url: '/api/users/me', headers: { cookie: `svc_session=${first.svc_session}` } })
  t.equal(old.statusCode, 401)
})

t.test('after signing out the session is refused, and no later response revives it', async (t) => {
  const test = await fresh(t)
  const cookies = await signIn(test)
  const headers = { cookie: cookieHeader(cookies), 'x-csrftoken': cookies.svc_csrftoken ?? '' }
  t.equal((await test.app.inject({ method: 'POST', url: '/api/logout', headers })).statusCode, 200)
  t.equal((await test.app.inject({ url: '/api/users/me', headers })).statusCode, 401)
  const write = await test.app.inject({ method: 'POST', url: '/api/client-tokens', payload: TOKEN, headers })
  t.equal(write.statusCode, 401, 'a page that still has the CSRF token of the session asks for a new sign-in')
  t.equal((await test.app.inject({ url: '/api/heartbeat', headers })).statusCode, 200)
  t.equal((await test.app.inject({ url: '/api/users/me', headers })).statusCode, 401)
})

t.test('V5: a write with a session needs the CSRF token of that session', async (t) => {
  const test = await fresh(t)
  const cookies = await signIn(test)
  const write = (extra: object, cookie = cookies) => test.app.inject({
    method: 'POST', url: '/api/client-tokens', payload: TOKEN, headers: { cookie: cookieHeader(cookie), ...extra }
  })
  const missing = await write({})
  t.equal(missing.statusCode, 403)
  t.match(missing.json(), { detail: /^CSRF token missing or invalid; repeat with .* x-csrftoken$/ })
  t.equal((await write({ 'x-csrftoken': 'made.up' }, { ...cookies, svc_csrftoken: 'made.up' })).statusCode, 403, 'forged')
  const guest = readCookies(await test.app.inject({ url: '/api/heartbeat' }))
  t.equal((await write({ 'x-csrftoken': guest.svc_csrftoken }, { ...cookies, ...guest })).statusCode, 403, "nobody's")
  const other = await signIn(test)
  t.equal((await write({ 'x-csrftoken': other.svc_csrftoken }, { ...cookies, svc_csrftoken: other.svc_csrftoken ?? '' })).statusCode,
    403, "another session's")
  t.equal((await write({ 'x-csrftoken': cookies.svc_csrftoken })).statusCode, 201)
})

t.test('V6: an Authorization header does not disable the CSRF check of a cookie', async (t) => {
  const test = await fresh(t)
  const cookies = await signIn(test)
  for (const authorization of ['Bearer x', 'Basic x', test.admin.authorization]) {
    const reply = await test.app.inject({
      method: 'POST', url: '/api/client-tokens', payload: TOKEN, headers: { cookie: cookieHeader(cookies), authorization }
    })
    t.equal(reply.statusCode, 403, authorization)
  }
})

t.test('on this machine anyone with the CSRF pair creates the first administrator, once', async (t) => {
  const { app } = await fresh(t, { withoutAdmin: true })
  const guest = readCookies(await app.inject({ url: '/api/heartbeat' }))
  const headers = { cookie: cookieHeader(guest), 'x-csrftoken': guest.svc_csrftoken ?? '' }
  const create = (username: string) => app.inject({
    method: 'POST', url: '/api/users', headers, payload: { username, email: '', password: 'a password', role: 'admin' }
  })
  const replies = await Promise.all(['one', 'two', 'three'].map((name) => create(`admin-${name}`)))
  t.same(replies.map((reply) => reply.statusCode).sort(), [201, 401, 401])
  t.equal((await create('admin-four')).statusCode, 401)
})

t.test('over the network the first administrator needs the printed setup code', async (t) => {
  const { app } = await fresh(t, { withoutAdmin: true })
  const guest = readCookies(await app.inject({ url: '/api/heartbeat' }))
  const headers = { cookie: cookieHeader(guest), 'x-csrftoken': guest.svc_csrftoken ?? '' }
  const payload = { username: 'owner', email: '', password: 'a password', role: 'admin' }
  const code = await app.users.findSetupCode()
  const create = async (from: object, given: object = {}) => (await app.inject({
    method: 'POST', url: '/api/users', payload: { ...payload, ...given }, ...from,
    headers: { ...headers, ...'headers' in from ? from.headers as object : {} }
  })).statusCode
  const invite = async (query: object) => (await app.inject({
    method: 'POST', url: '/api/users/invite-link', query: { role: 'admin', ...query }, headers, remoteAddress: '192.0.2.1'
  })).statusCode
  const strangers = [{ remoteAddress: '192.0.2.1' }, { remoteAddress: '10.0.0.2' }, { remoteAddress: '2001:db8::1' },
    { headers: { 'x-forwarded-for': '127.0.0.1' } }, { headers: { 'x-real-ip': '192.0.2.1' } }, { headers: { via: '1.1 proxy' } },
    { headers: { host: 'rebound.evil.example' } }]
  for (const from of strangers) t.same([await create(from), await create(from, { setup_code: 'x' })], [403, 403], JSON.stringify(from))
  t.same([await invite({}), await invite({ setup_code: 'x' }), await invite({ setup_code: code })], [403, 403, 201])
  for (let i = 0; i < 10; i++) await create({ remoteAddress: '192.0.2.2' }, { setup_code: 'guess' })
  t.equal(await create({ remoteAddress: '192.0.2.2' }, { setup_code: code }), 429, 'who guesses waits')
  t.equal(await create({ remoteAddress: '192.0.2.3' }, { setup_code: ` ${code} ` }), 201)
  t.equal(await app.users.findSetupCode(), null)
  t.equal(await create({ remoteAddress: '192.0.2.3' }, { setup_code: code, username: 'second' }), 401, 'it is good for the first one')
})

t.test('an invalid name, password or address is refused with the broken rule', async (t) => {
  const { app, admin, createUser } = await fresh(t)
  await createUser('alice')
  const create = (payload: object) => app.inject({
    method: 'POST', url: '/api/users', headers: admin, payload: { username: 'carol', email: '', password: 'a password', role: 'user', ...payload }
  })
  const cases = [{ username: 'al' }, { username: 'a b c' }, { username: 'ALICE' }, { password: 'seven77' }, { password: '         ' },
    { email: 'x' }, { email: 'a@b\r\nBcc: c@d.org' }]
  for (const payload of cases) t.equal((await create(payload)).statusCode, 400, JSON.stringify(payload))
  t.match((await create({ username: 'ALICE' })).json().detail, /taken/)
  t.equal((await create({ role: 'viewer' })).json().role, 'user')
})

t.test('a user cannot create users', async (t) => {
  const { app, createUser } = await fresh(t)
  const headers = await createUser('alice')
  const payload = { username: 'mallory', email: '', password: 'a password', role: 'admin' }
  t.equal((await app.inject({ method: 'POST', url: '/api/users', headers, payload })).statusCode, 403)
})

t.test('a token is shown once, stored only as a hash, and limited to its scopes', async (t) => {
  const { app, admin } = await fresh(t)
  const created = (await app.inject({ method: 'POST', url: '/api/client-tokens', headers: admin, payload: TOKEN })).json()
  t.match(created.raw_token, /^svc_[0-9a-f]{64}$/)
  const headers = { authorization: `Bearer ${created.raw_token}` }
  t.equal((await app.inject({ url: '/api/users/me', headers })).statusCode, 200)
  t.equal((await app.inject({ url: '/api/users', headers })).statusCode, 403, 'its owner may, the token may not')
  const rows = JSON.stringify((await app.db.query('select * from client_tokens')).rows)
  t.notMatch(rows, created.raw_token)
  const list = (await app.inject({ url: '/api/client-tokens', headers: admin })).json()
  t.match(list, [{ name: 'handheld', scopes: TOKEN.scopes, device_id: null }])
  t.notOk('raw_token' in list[0])
})

t.test("a token follows its owner's scopes, and ends if revoked, replaced or expired", async (t) => {
  const { app, admin } = await fresh(t)
  const db = app.db
  const make = async () => (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: admin, payload: { name: 'x', scopes: ['users.read', 'me.read'] }
  })).json()
  const call = async (raw: string, url = '/api/users') =>
    (await app.inject({ url, headers: { authorization: `Bearer ${raw}` } })).statusCode
  const [revoked, replaced, expired] = [await make(), await make(), await make()]
  t.equal(await call(revoked.raw_token), 200)
  await app.inject({ method: 'DELETE', url: `/api/client-tokens/${revoked.id}`, headers: admin })
  t.equal(await call(revoked.raw_token), 401)
  const renewed = (await app.inject({ method: 'PUT', url: `/api/client-tokens/${replaced.id}/regenerate`, headers: admin })).json()
  t.equal(await call(replaced.raw_token), 401)
  t.equal(await call(renewed.raw_token), 200)
  await db.query("update client_tokens set expires_at = now() - interval '1 second' where id = $1", [expired.id])
  await until(async () => await call(expired.raw_token) === 401, 'a token that ran out')
  await db.query("update users set role = 'user' where username = 'admin'")
  await until(async () => await call(renewed.raw_token) === 403, 'a token that shrank with its owner')
  t.equal(await call(renewed.raw_token, '/api/users/me'), 200)
})

t.test("a request for another user's token answers 404", async (t) => {
  const { app, admin, createUser } = await fresh(t)
  const { id } = (await app.inject({ method: 'POST', url: '/api/client-tokens', headers: admin, payload: TOKEN })).json()
  const headers = await createUser('alice')
  t.equal((await app.inject({ method: 'DELETE', url: `/api/client-tokens/${id}`, headers })).statusCode, 404)
  t.equal((await app.inject({ method: 'PUT', url: `/api/client-tokens/${id}/regenerate`, headers })).statusCode, 404)
  t.equal((await app.inject({ url: '/api/client-tokens', headers: admin })).json().length, 1)
})

t.test('a token cannot get a scope that its creator lacks or that does not exist', async (t) => {
  const { app, createUser } = await fresh(t)
  const headers = await createUser('alice')
  const make = async (scopes: string[]) =>
    (await app.inject({ method: 'POST', url: '/api/client-tokens', headers, payload: { name: 'x', scopes } })).statusCode
  t.equal(await make(['users.write']), 403)
  t.equal(await make(['everything']), 422)
  t.equal(await make([]), 422)
})

t.test('a changed password stops Basic credentials at once, even cached ones', async (t) => {
  const { app, createUser } = await fresh(t)
  const headers = await createUser('alice')
  t.equal((await app.inject({ url: '/api/users/me', headers })).statusCode, 200)
  await app.users.create({ username: 'bob', password: 'another password', email: '', role: 'user' })
  await app.db.query(`update users set password_hash =
    (select password_hash from users where username = 'bob') where username = 'alice'`)
  t.equal((await app.inject({ url: '/api/users/me', headers })).statusCode, 401)
})
