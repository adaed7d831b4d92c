import t from 'tap'
import { createCallerCache, type CachedCaller } from '../../../core/access/caller-cache.ts'
import { type TestApp, buildTestApp, shareTestApp } from '../../support.ts'
import { signIn } from '../auth/support.ts'
import { until } from '../../until.ts'

const fresh = shareTestApp(t)

const REQUESTS = 20

const foundAs = (username: string, expiresAt: number | null = null): CachedCaller => ({
  expires_at: expiresAt,
  caller: {
    id: 1, username, role: 'user', scopes: new Set(), credential: 'token', session_id: null, token_id: 1, device_id: null,
    password_mark: '', access: { is_admin: false, group_id: null, grants: [], age_limit: null, hide_unrated_roms: false }
  }
})

/** Creates a member with a token, and a function that returns the status of its request. */
async function makeMember ({ app, createUser }: TestApp) {
  const headers = await createUser('alice')
  const made = await app.inject({
    method: 'POST', url: '/api/client-tokens', headers, payload: { name: 'x', scopes: ['me.read', 'roms.read'] }
  })
  const { raw_token: raw, id } = made.json<{ raw_token: string, id: number }>()
  const ask = async (worker: TestApp['app'], url = '/api/users/me'): Promise<number> =>
    (await worker.inject({ url, headers: { authorization: `Bearer ${raw}` } })).statusCode
  return { id, ask }
}

let other: Promise<TestApp> | undefined

/** Builds a second web worker of the same server. */
async function findOther ({ databaseUrl }: TestApp): Promise<TestApp['app']> {
  other ??= buildTestApp(t, { databaseUrl, withoutAdmin: true })
  return (await other).app
}

t.test('a credential is looked up once a second, and never cached beyond its expiry', async (t) => {
  let [now, looks] = [0, 0]
  const kept = createCallerCache(() => now)
  const find = (credential: string, expiresAt: number | null = null) => kept.find(credential, async () => {
    looks++
    return foundAs(credential, expiresAt)
  })
  await find('a')
  t.equal((await find('a'))?.username, 'a')
  t.equal(looks, 1)
  t.equal((await find('b'))?.username, 'b', 'nobody is taken for another')
  now = 1_000
  await find('a')
  t.equal(looks, 3)
  await find('c', 1_500)
  now = 1_600
  await find('c', 1_500)
  t.equal(looks, 5)
})

t.test('a lookup during a change is repeated, and a missing caller is not cached', async (t) => {
  const kept = createCallerCache(() => 0)
  await kept.find('a', async () => {
    kept.clear()
    return foundAs('former')
  })
  t.equal((await kept.find('a', async () => foundAs('new')))?.username, 'new')
  t.equal(await kept.find('b', async () => null), null)
  t.equal((await kept.find('b', async () => foundAs('b')))?.username, 'b')
})

const CHANGES: { what: string, sql: string, url: string, becomes: number }[] = [
  { what: 'was deleted', sql: 'delete from client_tokens', url: '/api/users/me', becomes: 401 },
  { what: 'has another secret', sql: "update client_tokens set token_hash = 'another'", url: '/api/users/me', becomes: 401 },
  { what: 'has fewer scopes', sql: "update client_tokens set scopes = '{roms.read}'", url: '/api/users/me', becomes: 403 },
  { what: 'belongs to a disabled user', sql: 'update users set enabled = false', url: '/api/users/me', becomes: 401 },
  { what: 'belongs to a deleted user', sql: "delete from users where username = 'alice'", url: '/api/users/me', becomes: 401 },
  { what: 'belongs to a member of a changed group', sql: "delete from permission_grants where entity = 'roms'", url: '/api/roms', becomes: 403 }
]

for (const { what, sql, url, becomes } of CHANGES) {
  t.test(`a token that ${what} is not cached by other web workers`, async (t) => {
    const test = await fresh(t)
    const { ask } = await makeMember(test)
    const other = await findOther(test)
    t.equal(await ask(other, url), 200)
    await test.app.pg.query(sql)
    for (const worker of [test.app, other]) {
      await until(async () => await ask(worker, url) === becomes, what)
    }
  })
}

t.test('another password or group of the user reaches cached callers', async (t) => {
  const test = await fresh(t)
  const { ask } = await makeMember(test)
  t.equal(await ask(test.app), 200)
  const announced: string[] = []
  await test.app.workers.listen('svc_callers', () => { announced.push('') })
  await test.app.pg.query("update users set password_hash = 'another' where username = 'alice'")
  await until(() => announced.length === 1, 'word of a new password')
  await test.app.pg.query("update users set permission_group_id = (select min(id) from permission_groups) where username = 'alice'")
  await until(() => announced.length === 2, 'word of another group')
  await test.app.pg.query("update users set last_active = now() where username = 'alice'")
  await test.app.pg.query("select pg_notify('svc_callers', '')")
  await until(() => announced.length === 3, 'word of nothing else')
})

t.test('the next request with a revoked token to the same web worker is refused', async (t) => {
  const test = await fresh(t)
  const { ask, id } = await makeMember(test)
  t.equal(await ask(test.app), 200)
  t.equal((await test.app.inject({ method: 'DELETE', url: `/api/client-tokens/${id}/admin`, headers: test.admin })).statusCode, 200)
  t.equal(await ask(test.app), 401)
})

/** Creates a browser session, and a function that returns the status of its request. */
async function makeLogin ({ app }: TestApp) {
  const headers = await signIn(app, 'admin')
  return async (worker: TestApp['app'], url = '/api/users/me'): Promise<number> =>
    (await worker.inject({ url, headers })).statusCode
}

const SESSION_CHANGES: { what: string, sql: string }[] = [
  { what: 'was ended', sql: 'delete from sessions' },
  { what: 'has expired', sql: "update sessions set expires_at = now() - interval '1 second'" },
  { what: 'belongs to a disabled user', sql: 'update users set enabled = false' }
]

for (const { what, sql } of SESSION_CHANGES) {
  t.test(`a browser session that ${what} is refused by other web workers`, async (t) => {
    const test = await fresh(t)
    const ask = await makeLogin(test)
    const other = await findOther(test)
    t.same([await ask(test.app), await ask(other)], [200, 200])
    await test.app.pg.query(sql)
    for (const worker of [test.app, other]) await until(async () => await ask(worker) === 401, what)
  })
}

t.test('a browser session is looked up once for many requests', async (t) => {
  const test = await fresh(t)
  const ask = await makeLogin(test)
  let connections = 0
  test.app.pg.on('acquire', () => { connections++ })
  for (let times = 0; times < REQUESTS; times++) await ask(test.app, '/api/health')
  t.ok(connections < REQUESTS / 2, `${connections} connections for ${REQUESTS} requests`)
})
