import t from 'tap'
import { SCOPES } from '../../../core/access/scopes.ts'
import type { App } from '../../../core/typebox.ts'
import { shareTestApp } from '../../support.ts'
import { basicHeaders, signIn } from '../auth/support.ts'
import { bearer, createCaller } from './support.ts'

const fresh = shareTestApp(t)
type Headers = Record<string, string>

/** The values that decide who may sign in, and with which role. */
const DOORS = `select
  (select json_agg(u order by id) from (select id, username, email, password_hash, role, enabled from users) u) as users,
  (select json_agg(c order by id) from (select id, token_hash, scopes from client_tokens) c) as tokens,
  (select count(*) from sessions) as sessions, (select count(*) from pairing_codes) as codes,
  (select count(*) from one_time_tokens) as invites, (select json_agg(o) from permission_overrides o) as overrides,
  (select count(*) from permission_groups) as groups`
const readDoors = async (app: App) => (await app.pg.query(DOORS)).rows

const idOf = async (app: App, name: string) =>
  (await app.pg.query<{ id: number }>('select id from users where username = $1', [name])).rows[0]?.id ?? 0

async function createToken (app: App, owner: Headers, scopes: readonly string[]) {
  const { body } = await createCaller(app, owner).post('/api/client-tokens', { name: 'handheld', scopes })
  return { id: body.id as number, headers: bearer(body.raw_token) }
}

async function signInByOauth (app: App, username: string, scopes: readonly string[]): Promise<Headers> {
  const form = new URLSearchParams({ username, password: 'a password', scope: scopes.join(' ') })
  const reply = await app.inject({
    method: 'POST', url: '/api/token', headers: { 'content-type': 'application/x-www-form-urlencoded' }, payload: form.toString()
  })
  return bearer(reply.json<{ access_token: string }>().access_token)
}

type Step = [method: 'post' | 'put' | 'delete', url: string, payload?: object]

/** Requests with which a token could take over its own account or extend its own rights. */
const ownSteps = (userId: number, tokenId: number, sessionId: number): Step[] => [
  ['put', `/api/users/${userId}`, { password: 'taken over' }],
  ['put', `/api/users/${userId}`, { email: 'mallory@evil.example' }],
  ['put', `/api/users/${userId}`, { username: 'mallory' }],
  ['post', '/api/client-tokens', { name: 'x', scopes: ['me.write'] }],
  ['put', `/api/client-tokens/${tokenId}/regenerate`],
  ['post', `/api/client-tokens/${tokenId}/pair`],
  ['post', '/api/auth/device/approve', { user_code: 'ABCDEFGH', approved_scopes: ['me.write'] }],
  ['delete', `/api/sessions/${sessionId}`],
  ['delete', '/api/sessions']
]

/** Requests with which an administrator's token could take over other accounts. */
const adminSteps = (userId: number): Step[] => [
  ['put', `/api/users/${userId}`, { password: 'taken over' }],
  ['put', `/api/users/${userId}`, { email: 'mallory@evil.example' }],
  ['put', `/api/users/${userId}`, { username: 'mallory' }],
  ['put', `/api/users/${userId}`, { role: 'admin' }],
  ['put', `/api/users/${userId}`, { enabled: false }],
  ['delete', `/api/users/${userId}`],
  ['post', '/api/users', { username: 'mallory', email: '', password: 'a password', role: 'admin' }],
  ['post', '/api/users/invite-link?role=admin'],
  ['post', '/api/permissions/groups', { name: 'Mallory', grants: [{ entity: 'users', action: 'write' }] }],
  ['put', `/api/permissions/users/${userId}`, { overrides: [{ entity: 'users', action: 'write', granted: true }] }]
]

const nameOf = ([method, url, payload]: Step) => `${method} ${url} ${JSON.stringify(payload)}`
const run = async (app: App, headers: Headers, [method, url, payload]: Step) =>
  await createCaller(app, headers)[method](url, payload)

t.test('a narrow token cannot take over its owner or grant scopes that it lacks', async (t) => {
  const { app, createUser } = await fresh(t)
  const alice = await createUser('alice')
  await signIn(app, 'alice')
  const { rows: [session] } = await app.pg.query<{ id: number }>('select id from sessions')
  const id = await idOf(app, 'alice')
  const wide = await createToken(app, alice, ['me.read', 'me.write', 'roms.read', 'assets.write'])
  const narrow = await createToken(app, alice, ['me.write'])
  const oauth = await signInByOauth(app, 'alice', ['me.write'])
  const before = await readDoors(app)
  for (const headers of [narrow.headers, wide.headers, oauth]) {
    const isOauth = headers === oauth
    for (const step of ownSteps(id, wide.id, session?.id ?? 0)) {
      if (isOauth && step[1] === '/api/client-tokens') continue
      const { status, body } = await run(app, headers, step)
      t.equal(status, 403, nameOf(step))
      t.match(body.detail, /No token may send this request.*sign in/)
    }
  }
  t.same(await readDoors(app), before)
})

t.test('an OAuth2 sign-in with some scopes creates only tokens with some of these', async (t) => {
  const { app, admin, createUser } = await fresh(t)
  await createUser('alice')
  const create = async (headers: Headers, scopes: string[]) =>
    await createCaller(app, headers).post('/api/client-tokens', { name: 'x', scopes })
  for (const name of ['alice', 'admin']) {
    const oauth = await signInByOauth(app, name, ['me.read', 'me.write', 'roms.read'])
    const made = await create(oauth, ['me.write', 'roms.read'])
    t.match(made, { status: 201, body: { scopes: ['me.write', 'roms.read'] } })
    t.match(await create(oauth, ['assets.read']), { status: 403, body: { detail: /do not have the scopes: assets.read/ } })
    t.equal((await create(bearer(made.body.raw_token), ['me.write'])).status, 403, 'a token makes none')
    t.equal((await create(await signInByOauth(app, name, ['me.read', 'roms.read']), ['roms.read'])).status, 403, 'without me.write')
  }
  t.equal((await create(admin, ['users.write'])).status, 201)
})

t.test("an administrator's users.write token reassigns no saves and revokes no token", async (t) => {
  const { app, admin, createUser } = await fresh(t)
  const alice = await createUser('alice')
  const [other, hers] = [await createToken(app, admin, ['me.read']), await createToken(app, alice, ['me.read'])]
  await app.pg.query("insert into deleted_accounts (id, username, assets, versions) values (1, 'gone', '[]', '[]')")
  const { headers } = await createToken(app, admin, ['users.read', 'users.write'])
  const restore: Step = ['post', '/api/users/deleted/1/restore', { user_id: await idOf(app, 'alice') }]
  const steps: Step[] = [restore, ...[other, hers].map(({ id }): Step => ['delete', `/api/client-tokens/${id}/admin`])]
  for (const step of steps) t.match(await run(app, headers, step), { status: 403, body: { detail: /sign in/ } }, nameOf(step))
  await app.pg.query(`insert into permission_grants (group_id, entity, action, own_only)
    select id, 'users', 'write', false from permission_groups where is_default on conflict do nothing`)
  t.match(await run(app, alice, restore), { status: 403 }, 'who manages accounts is no administrator')
  t.match(await run(app, alice, ['delete', `/api/client-tokens/${other.id}/admin`]), { status: 403, body: { detail: /administrator/ } })
  t.equal((await run(app, alice, ['delete', `/api/client-tokens/${hers.id}/admin`])).status, 200)
  t.equal((await run(app, admin, ['delete', `/api/client-tokens/${other.id}/admin`])).status, 200)
  t.equal((await run(app, admin, restore)).status, 200)
})

t.test('a token with me.read can only revoke itself', async (t) => {
  const { app, createUser } = await fresh(t)
  const alice = await createUser('alice')
  const [reader, other, foreign] = [
    await createToken(app, alice, ['me.read']), await createToken(app, alice, ['roms.read']),
    await createToken(app, await createUser('bob'), ['me.read'])
  ]
  const revoke = async (headers: Headers, id: number) => (await createCaller(app, headers).delete(`/api/client-tokens/${id}`)).status
  for (const { id } of [other, foreign, { id: 9999 }]) t.equal(await revoke(reader.headers, id), 403)
  t.equal(await revoke(other.headers, other.id), 403, 'without me.read not even itself')
  t.equal(await revoke(reader.headers, reader.id), 200)
  t.equal(await revoke(reader.headers, reader.id), 401)
  t.equal(await revoke((await createToken(app, alice, ['me.write'])).headers, other.id), 200)
})

t.test("an administrator's token takes over no account and creates no administrator", async (t) => {
  const { app, admin, createUser } = await fresh(t)
  await createUser('alice')
  const id = await idOf(app, 'alice')
  const tokens = [await createToken(app, admin, ['me.write', 'users.write']), await createToken(app, admin, SCOPES)]
  const before = await readDoors(app)
  for (const { headers } of tokens) {
    for (const step of adminSteps(id)) t.equal((await run(app, headers, step)).status, 403, nameOf(step))
  }
  t.same(await readDoors(app), before)
})

t.test('a session, a password and a full OAuth2 sign-in may do what a token may not', async (t) => {
  const { app, createUser } = await fresh(t)
  const alice = await createUser('alice')
  const id = await idOf(app, 'alice')
  const { body: { oauth_scopes: scopes } } = await createCaller(app, alice).get('/api/users/me')
  for (const headers of [alice, await signIn(app, 'alice'), await signInByOauth(app, 'alice', scopes)]) {
    const token = await createToken(app, headers, ['me.read'])
    for (const step of ownSteps(id, token.id, 0).slice(1, 6)) {
      if (step[2] !== undefined && 'username' in step[2]) continue
      t.ok([200, 201].includes((await run(app, headers, step)).status), nameOf(step))
    }
    await app.pg.query('delete from client_tokens')
  }
  t.equal((await run(app, alice, ['put', `/api/users/${id}`, { username: 'alice-2' }])).status, 200)
  t.equal((await run(app, basicHeaders('alice-2'), ['put', `/api/users/${id}`, { password: 'a new password' }])).status, 200)
})

t.test('a token may change harmless fields, even in a form that repeats the others', async (t) => {
  const { app, createUser } = await fresh(t)
  const alice = await createUser('alice')
  const id = await idOf(app, 'alice')
  const { headers } = await createToken(app, alice, ['me.write'])
  const step: Step = ['put', `/api/users/${id}`, { username: 'Alice', email: '', role: 'admin', ui_settings: { theme: 'dark' } }]
  t.match(await run(app, headers, step), { status: 200, body: { role: 'user', ui_settings: { theme: 'dark' } } })
})
