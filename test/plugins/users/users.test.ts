import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mock } from 'node:test'
import type { InjectOptions } from 'fastify'
import sharp from 'sharp'
import { io } from 'socket.io-client'
import t from 'tap'
import type { RoleChange } from '../../../plugins/users/accounts/roles.ts'
import { awaitEarlierEvents } from '../../core/sockets-support.ts'
import { buildTestApp, createTestDatabase } from '../../support.ts'
import { basicHeaders as basic, guestHeaders, signIn as openBrowser } from '../auth/support.ts'
import { until } from '../../until.ts'
import { withConnection } from '../migrations/support.ts'

type Headers = Record<string, string>
interface UserView { id: number, username: string, role: string, enabled: boolean }

// Periodic checks must not be the reason why a socket ends.
mock.timers.enable({ apis: ['setInterval'] })
t.teardown(() => { mock.timers.reset() })

const test = await buildTestApp(t, { env: { SVC_BASE_URL: 'https://home.example/games' } })
const { app, admin, createUser, config } = test
const roleChanges: RoleChange[] = []
app.users.onRoleChanged((change) => { roleChanges.push(change) })
app.users.onRoleChanged(() => { throw new Error('a listener of its own kind') })
const url = await app.listen({ port: 0, host: '127.0.0.1' })

const idOf = async (username: string) =>
  (await app.pg.query<{ id: number }>('select id from users where username = $1', [username])).rows[0]?.id ?? 0
const folderOf = async (id: number) =>
  (await app.pg.query<{ folder: string }>('select folder from users where id = $1', [id])).rows[0]?.folder ?? ''
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
const call = (method: Method, path: string, headers: Headers, payload?: InjectOptions['payload']) =>
  app.inject({ method, url: `/api/users${path}`, headers, ...(payload === undefined ? {} : { payload }) })

await createUser('model')

/** Creates a user with the password hash of another, because hashing is slow. */
async function make (username: string, role: 'admin' | 'user' = 'user') {
  const { rows: [row] } = await app.pg.query<{ id: number }>(`insert into users (username, role, password_hash)
    select $1, $2, password_hash from users where username = 'model' returning id`, [username, role])
  return { id: row?.id ?? 0, headers: basic(username) }
}

const signIn = (username: string, password = 'a password') => openBrowser(app, username, { password })

/** Returns the status of a request that every valid credential may make. */
const statusOf = async (headers: Headers) => (await call('GET', '/me', headers)).statusCode

function form (fields: Record<string, string | Blob>): { headers: Headers, payload: () => Promise<Buffer> } {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') data.append(name, value)
    else data.append(name, value, 'picture.txt')
  }
  const request = new Request('http://here.example', { method: 'PUT', body: data })
  return {
    headers: { 'content-type': request.headers.get('content-type') ?? '' },
    payload: async () => Buffer.from(await request.arrayBuffer())
  }
}

async function putForm (id: number, headers: Headers, fields: Record<string, string | Blob>) {
  const { headers: type, payload } = form(fields)
  return await call('PUT', `/${id}`, { ...headers, ...type }, await payload())
}

const picture = (format: 'png' | 'jpeg' | 'webp' | 'gif' | 'tiff') =>
  sharp({ create: { width: 4, height: 3, channels: 3, background: 'teal' } }).toFormat(format).toBuffer()
const blob = (content: Buffer | string) => new Blob([typeof content === 'string' ? content : new Uint8Array(content)])

const eventsOf = async (userId: number) => (await app.pg.query<{ event: string }>(
  "select event from audit_events where details->>'user_id' = $1 order by id", [String(userId)])).rows.map(({ event }) => event)

t.test('each creation, change and deletion of an account is recorded', async (t) => {
  const created = await call('POST', '', admin, { username: 'Zoe', email: 'Zoe@Home.example', password: 'a password', role: 'viewer' })
  t.equal(created.statusCode, 201)
  const { id } = created.json<UserView>()
  t.match(created.json(), { username: 'zoe', email: 'zoe@home.example', role: 'user', enabled: true, current_device_id: null })
  const changed = await call('PUT', `/${id}`, admin, {
    username: 'ZOE-2', email: '', role: 'admin', ra_username: ' zoe64 ', ui_settings: { theme: 'dark' }
  })
  t.match(changed.json(), { username: 'zoe-2', email: null, role: 'admin', ra_username: 'zoe64', ui_settings: { theme: 'dark' } })
  t.equal((await call('PUT', `/${id}`, admin, { enabled: false })).json<UserView>().enabled, false)
  t.equal(await statusOf(basic('zoe-2', 'a password')), 401)
  t.equal((await call('PUT', `/${id}`, admin, { enabled: true, password: 'another password' })).statusCode, 200)
  t.equal(await statusOf(basic('zoe-2', 'another password')), 200)
  const gone = await call('DELETE', `/${id}`, admin)
  t.same([gone.statusCode, gone.body], [200, 'null'])
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    t.match((await call(method, `/${id}`, admin, method === 'PUT' ? {} : undefined)).json(), { detail: `User with ID '${id}' not found` })
  }
  t.same(await eventsOf(id), ['user.created', 'user.updated', 'role.changed', 'user.updated', 'user.disabled', 'user.updated',
    'password.changed', 'user.enabled', 'user.deleted'])
})

t.test('an invalid change is refused with the reason and writes nothing', async (t) => {
  const { id } = await make('wendy')
  await make('taken')
  await app.pg.query("update users set email = 'taken@home.example' where username = 'taken'")
  const { rows: before } = await app.pg.query('select * from users where id = $1', [id])
  for (const [payload, reason] of [
    [{ username: 'w' }, /3 to 255/], [{ username: 'TAKEN' }, /'taken' is taken/], [{ email: 'Taken@home.example' }, /is taken/],
    [{ password: 'seven77' }, /8 to 255/], [{ ui_settings: '[1]' }, /JSON object/],
    [{ ui_settings: '{' }, /not JSON/], [{ ui_settings: '{"text":"a\\u0000"}' }, /cannot be stored/],
    [{ ui_settings: '{"half":"\\ud800"}' }, /cannot be stored/], [{ ui_settings: `${'{"a":'.repeat(99)}1${'}'.repeat(99)}` }, /nested/],
    [{ ui_settings: { text: 'x'.repeat(70_000) } }, /64 KiB/]
  ] as const) {
    const reply = await call('PUT', `/${id}`, admin, { email: 'new@home.example', ...payload })
    t.equal(reply.statusCode, 400, reply.body)
    t.match(reply.json<{ detail: string }>().detail, reason)
  }
  for (const payload of [{ enabled: 'no' }, { username: 7 }, { ra_username: 'a\0b' }, { email: 'a\0@home.example' }, { ui_settings: { text: 'a\0' } }, { avatar: 'aGk=' }]) {
    t.equal((await call('PUT', `/${id}`, admin, payload)).statusCode, 422, JSON.stringify(payload))
  }
  t.same((await app.pg.query('select * from users where id = $1', [id])).rows, before)
  t.equal((await call('PUT', `/${id}`, admin, { ui_settings: String.raw`{"path":"C:\\u0000"}` })).statusCode, 200, 'only a backslash')
})

t.test('members change only themselves, and never their role', async (t) => {
  const [alice, other] = [await make('alice'), await make('olive')]
  const own = await call('PUT', `/${alice.id}`, alice.headers, {
    role: 'admin', enabled: false, permission_group_id: 2, is_admin: true, id: 1, age_limit: 21, oauth_scopes: ['users.write'],
    email: 'alice@home.example'
  })
  t.match(own.json(), { id: alice.id, role: 'user', enabled: true, permission_group_id: null, email: 'alice@home.example' })
  t.equal((await call('PUT', `/${other.id}`, alice.headers, { email: 'x@home.example' })).statusCode, 403)
  t.equal((await call('PUT', '/99999', alice.headers, {})).statusCode, 403, 'nor does she learn who exists')
  t.equal((await call('DELETE', `/${other.id}`, alice.headers)).statusCode, 403)
  const self = await call('PUT', `/${await idOf('admin')}`, admin, { role: 'user', enabled: false })
  t.match(self.json(), { role: 'admin', enabled: true }, 'not even an administrator by itself')
})

t.test("an administrator's token changes others only with users.write", async (t) => {
  const { id } = await make('tom')
  const token = async (scopes: string[]) => {
    const reply = await app.inject({ method: 'POST', url: '/api/client-tokens', headers: admin, payload: { name: 'x', scopes } })
    return { authorization: `Bearer ${reply.json<{ raw_token: string }>().raw_token}` }
  }
  t.equal((await call('PUT', `/${id}`, await token(['me.write']), { role: 'admin' })).statusCode, 403)
  t.equal((await call('PUT', `/${id}`, await token(['me.write', 'users.write']), { ra_username: 'tom' })).statusCode, 200)
})

t.test('a member who may write users creates only members and removes no administrator', async (t) => {
  const [mona, boss] = [await make('mona'), await make('boss', 'admin')]
  await app.inject({
    method: 'PUT', url: `/api/permissions/users/${mona.id}`, headers: admin,
    payload: { overrides: [{ entity: 'users', action: 'write', granted: true }] }
  })
  const create = async (role: string) => (await call('POST', '', mona.headers,
    { username: `by-mona-${role}`, email: '', password: 'a password', role })).statusCode
  t.same([await create('user'), await create(' ADMIN ')], [201, 403])
  t.equal((await call('DELETE', `/${boss.id}`, mona.headers)).statusCode, 403)
  t.equal((await call('PUT', `/${boss.id}`, mona.headers, { enabled: false })).statusCode, 403)
  t.equal((await call('DELETE', `/${await idOf('by-mona-user')}`, mona.headers)).statusCode, 200)
  t.equal((await call('POST', '/invite-link?role=admin', mona.headers)).statusCode, 403)
  t.equal((await call('DELETE', `/${boss.id}`, admin)).statusCode, 200)
})

t.test('the last administrator stays, even if two leave at once', async (t) => {
  t.equal((await call('DELETE', `/${await idOf('admin')}`, admin)).statusCode, 400, 'oneself')
  for (const attempt of [{ role: 'user' }, { enabled: false }, null]) {
    const [root, twin] = [await idOf('admin'), await make('twin', 'admin')]
    const change = (id: number, headers: Headers) =>
      attempt === null ? call('DELETE', `/${id}`, headers) : call('PUT', `/${id}`, headers, attempt)
    const replies = await Promise.all([change(twin.id, admin), change(root, twin.headers)])
    const { rowCount } = await app.pg.query("select id from users where role = 'admin' and enabled")
    t.equal(rowCount, 1, JSON.stringify(attempt))
    t.ok(replies.some((reply) => reply.statusCode === 200))
    t.same(replies.filter((reply) => reply.statusCode >= 500).map((reply) => reply.body), [])
    await app.pg.query("delete from users where username in ('twin', 'admin')")
    await make('admin', 'admin')
  }
})

t.test('an account change that another transaction blocked succeeds later', async (t) => {
  const [root, { id: twin }] = [await idOf('admin'), await make('twin', 'admin')]
  const lock = 'select id from users where id = $1 for key share'
  const other = await app.pg.connect()
  t.teardown(() => { other.release() })
  await other.query("begin; set local deadlock_timeout = '20s'")
  await other.query(lock, [twin])
  const change = call('PUT', `/${twin}`, admin, { role: 'user' })
  const isWaiting = async () => (await app.pg.query(`select from pg_locks where not granted and pid in (
    select pid from pg_stat_activity where datname = current_database())`)).rowCount === 1
  await until(isWaiting, 'the change waits for the other transaction')
  await other.query(lock, [root])
  await other.query('commit')
  const { statusCode, body } = await change
  t.equal(statusCode, 200, body)
  await call('DELETE', `/${twin}`, admin)
})

t.test('a new role is announced to clients, sockets, listeners and the log', async (t) => {
  const { id } = await make('rita')
  const socket = io(url, { path: '/games/ws/socket.io', transports: ['websocket'], reconnection: false, extraHeaders: await signIn('rita') })
  t.teardown(() => { socket.disconnect() })
  await until(() => app.sockets.main.sockets.adapter.rooms.has(`user:${id}`), 'her socket is known')
  await awaitEarlierEvents(socket, app)
  const told = new Promise((resolve) => { socket.once('permissions:changed', resolve) })
  roleChanges.length = 0
  t.equal((await call('PUT', `/${id}`, admin, { role: 'admin' })).statusCode, 200)
  t.same(await told, { user_id: id })
  t.match(roleChanges, [{ user: { id, username: 'rita' }, from: 'user', to: 'admin', actor: { username: 'admin' } }])
  await until(() => app.sockets.main.sockets.adapter.sids.get(socket.id ?? '')?.has('admin') === true, 'she hears administrators')
  await call('PUT', `/${id}`, admin, { role: 'user' })
  await until(() => app.sockets.main.sockets.adapter.sids.get(socket.id ?? '')?.has('admin') === false, 'and no longer')
  t.equal(await statusOf(basic('rita')), 200)
  t.equal((await call('GET', '', basic('rita'))).statusCode, 403)
})

t.test("a user's own new password ends every login, a new name only the current one", async (t) => {
  const { id } = await make('nina')
  const [first, second] = [await signIn('nina'), await signIn('nina')]
  const renamed = await call('PUT', `/${id}`, first, { username: 'nina-2' })
  t.equal(renamed.statusCode, 200)
  t.match(renamed.cookies.find(({ name }) => name === 'svc_session'), { value: '' }, 'the browser forgets it')
  t.same([await statusOf(first), await statusOf(second)], [401, 200])
  const third = await signIn('nina-2')
  await app.pg.query(`insert into one_time_tokens (token_hash, purpose, user_id, expires_at)
    values ('a refresh token', 'refresh', $1, now() + interval '1 day')`, [id])
  t.equal((await call('PUT', `/${id}`, third, { password: 'another password' })).statusCode, 200)
  t.same([await statusOf(second), await statusOf(third)], [401, 401])
  t.equal((await app.pg.query("select 1 from one_time_tokens where token_hash = 'a refresh token'")).rowCount, 0)
  t.equal(await statusOf(await signIn('nina-2', 'another password')), 200)
})

t.test('an older sign-in needs the present password to change password or address', async (t) => {
  const { id, headers } = await make('petra')
  const browser = await signIn('petra')
  const put = async (payload: object, by: Headers = browser) => (await call('PUT', `/${id}`, by, payload)).statusCode
  t.equal(await put({ email: 'pia@home.example' }), 200, 'not asked for right after a sign-in')
  await app.pg.query("update sessions set created_at = now() - interval '6 minutes' where user_id = $1", [id])
  for (const change of [{ password: 'another password' }, { email: 'thief@home.example' }, { email: '' }]) {
    const refused = await call('PUT', `/${id}`, browser, change)
    t.equal(refused.statusCode, 403)
    t.match(refused.json(), { detail: /current_password, or sign in again/ })
    t.equal(await put({ ...change, current_password: 'a guess' }), 403)
  }
  t.equal((await app.pg.query("select from audit_events where event = 'sign_in.failed' and username = 'petra'")).rowCount, 3, 'guesses count as failed sign-ins')
  t.equal(await put({ email: 'pia@home.example', ui_settings: '{"dark":true}' }), 200, 'nor for anything else')
  t.equal(await put({ email: 'new@home.example', current_password: 'a password' }), 200)
  t.equal(await put({ email: 'newer@home.example' }, headers), 200, 'HTTP Basic has it with every request')
  t.equal(await put({ email: 'newest@home.example' }, admin), 200, 'administrators change the accounts of others')
  t.equal(await put({ password: 'another password', current_password: 'a password' }), 200)
  t.equal(await statusOf(basic('petra', 'another password')), 200)
})

t.test('a common password is refused', async (t) => {
  const { id, headers } = await make('connie')
  for (const password of ['password', 'Password', 'PASSWORD1', 'iloveyou', '1q2w3e4r']) {
    const refused = await call('PUT', `/${id}`, headers, { password })
    t.equal(refused.statusCode, 400, password)
    t.match(refused.json(), { detail: /most common ones/ })
  }
})

t.test('a password may use any script, in any Unicode composition', async (t) => {
  const { id } = await make('uma')
  for (const password of ['пароль-мой-кот', '猫は箱が大好きです', 'caf\u00e9 in \u00c5lesund', '🐈🐈‍⬛🐕🦊🐻🐼🐨🐯', 'x'.repeat(255)]) {
    t.equal((await call('PUT', `/${id}`, admin, { password })).statusCode, 200, password)
    t.equal(await statusOf(basic('uma', password.normalize('NFD'))), 200, password)
    t.equal(await statusOf(basic('uma', `${password}.`)), 401, password)
  }
  for (const password of ['\u00e9\u00e9\u00e9\u00e9'.normalize('NFD'), '猫'.repeat(256), '\u3000'.repeat(9), 'half\ud800 a pair']) {
    t.match(await call('PUT', `/${id}`, admin, { password }), { statusCode: 400, body: /8 to 255/ }, password)
  }
})

t.test('a disabled or deleted user is signed out at once: browser, token and socket', async (t) => {
  for (const end of ['disable', 'delete'] as const) {
    const { id, headers } = await make(`out-${end}`)
    const browser = await signIn(`out-${end}`)
    const { raw_token: raw } = (await app.inject({
      method: 'POST', url: '/api/client-tokens', headers, payload: { name: 'x', scopes: ['me.read'] }
    })).json<{ raw_token: string }>()
    const socket = io(url, { path: '/games/ws/socket.io', transports: ['websocket'], reconnection: false, forceNew: true, extraHeaders: browser })
    t.teardown(() => { socket.disconnect() })
    await until(() => app.sockets.main.sockets.adapter.rooms.has(`user:${id}`), 'the socket is known')
    const closed = new Promise((resolve) => { socket.once('disconnect', resolve) })
    const reply = await (end === 'disable' ? call('PUT', `/${id}`, admin, { enabled: false }) : call('DELETE', `/${id}`, admin))
    t.equal(reply.statusCode, 200)
    await closed
    t.same([await statusOf(browser), await statusOf({ authorization: `Bearer ${raw}` }), await statusOf(headers)], [401, 401, 401], end)
  }
})

t.test("an avatar's type comes from its content; it replaces the former one", async (t) => {
  const { id, headers } = await make('pia')
  const own = await folderOf(id)
  const folder = join(config.data_dir, 'assets', 'users', own, 'profile')
  const avatar = () => call('GET', `/${id}/avatar`, headers)
  t.equal((await avatar()).statusCode, 404)
  for (const [format, type, name] of [['png', 'image/png', 'avatar.png'], ['jpeg', 'image/jpeg', 'avatar.jpg'],
    ['webp', 'image/webp', 'avatar.webp'], ['gif', 'image/gif', 'avatar.gif']] as const) {
    const content = await picture(format)
    const reply = await putForm(id, headers, { avatar: blob(content), role: 'admin' })
    t.match(reply.json(), { avatar_path: `users/${own}/profile/${name}`, role: 'user' }, format)
    t.same(await readdir(folder), [name])
    const { headers: sent, rawPayload } = await avatar()
    t.match(sent, { 'content-type': type, 'x-content-type-options': 'nosniff', 'content-disposition': `inline; filename*=UTF-8''${name}; filename="${name}"` })
    t.ok(rawPayload.equals(content))
  }
  t.match((await call('PUT', `/${id}`, headers, { avatar: '' })).json(), { avatar_path: '' })
  t.equal((await avatar()).statusCode, 404, 'it can be removed')
  await putForm(id, headers, { avatar: blob(await picture('gif')) })
  t.equal((await call('GET', `/${id}/avatar`, {})).statusCode, 401)
  await writeFile(join(folder, 'avatar.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  await app.pg.query("update users set avatar_path = replace(avatar_path, 'gif', 'svg') where id = $1", [id])
  t.match((await avatar()).headers, { 'content-type': 'application/octet-stream', 'content-disposition': /^attachment/ }, 'put there by others')
  for (const path of ['../../secret.key', 'users', `users/${'x'.repeat(300)}`, '/etc/passwd']) {
    await app.pg.query('update users set avatar_path = $2 where id = $1', [id, path])
    t.equal((await avatar()).statusCode, 404, path)
  }
  t.equal((await call('DELETE', `/${id}`, admin)).statusCode, 200)
  await t.rejects(readdir(join(folder, '..')), { code: 'ENOENT' }, 'nothing that it uploaded stays')
  t.equal((await call('GET', `/${id}/avatar`, admin)).statusCode, 404)
})

t.test('V13: a file that is no picture is refused under every name and leaves nothing', async (t) => {
  const { id, headers } = await make('sven')
  const huge = Buffer.from(await picture('png'))
  // A PNG stores width and height in bytes 16 to 23. The checksum after them no longer matches.
  huge.writeUInt32BE(60_000, 16)
  huge.writeUInt32BE(60_000, 20)
  for (const content of ['<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', '<html></html>', 'GIF8', '\x89PNG', 'x',
    await picture('tiff'), huge, (await picture('webp')).subarray(0, 14)]) {
    const reply = await putForm(id, headers, { avatar: blob(content), email: 'sven@home.example' })
    t.equal(reply.statusCode, 400, reply.body)
  }
  t.match((await call('GET', `/${id}`, admin)).json(), { avatar_path: '', email: null })
  await t.rejects(readdir(join(config.data_dir, 'assets', 'users', await folderOf(id), 'profile')))
  const tooLarge = await putForm(id, headers, { avatar: blob(Buffer.alloc(10 * 1024 * 1024 + 1)) })
  t.equal(tooLarge.statusCode, 413)
  const announced = await call('PUT', `/${id}`, { ...headers, 'content-type': 'multipart/form-data; boundary=b', 'content-length': '99999999' }, '--b--')
  t.equal(announced.statusCode, 413, 'before it is read')
  t.equal((await putForm(id, headers, { ui_settings: `{"a":"${'x'.repeat(70_000)}"}` })).statusCode, 413)
})

t.test('forms are read like JSON, and invalid ones are refused', async (t) => {
  const { id } = await make('fred')
  const reply = await putForm(id, admin, {
    username: 'Fred-2', password: '', ra_username: '', role: '', enabled: 'false', ui_settings: '{"a":[1]}', avatar: blob('')
  })
  t.match(reply.json(), { username: 'fred-2', ra_username: null, role: 'user', enabled: false, ui_settings: { a: [1] }, avatar_path: '' })
  const urlencoded = { ...admin, 'content-type': 'application/x-www-form-urlencoded' }
  t.match((await call('PUT', `/${id}`, urlencoded, 'enabled=TRUE&email=fred%40home.example&nobody=knows')).json(),
    { enabled: true, email: 'fred@home.example' })
  t.equal((await call('PUT', `/${id}`, urlencoded, 'enabled=perhaps')).statusCode, 422)
  t.equal((await call('PUT', `/${id}`, urlencoded, 'username=one&username=two')).statusCode, 422)
  for (const [type, payload] of [['multipart/form-data', 'x'], ['multipart/form-data; boundary=b', '--b\r\nnothing'],
    ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="__proto__"\r\n\r\nx\r\n--b--\r\n']] as const) {
    const { statusCode } = await call('PUT', `/${id}`, { ...admin, 'content-type': type }, payload)
    t.ok(statusCode >= 400 && statusCode < 500, `${statusCode} for ${payload}`)
  }
  t.equal((await call('PUT', `/${id}`, admin)).statusCode, 200, 'nothing to change')
})

t.test('an invite creates one account, with the role of the invite', async (t) => {
  const invite = await app.inject({
    method: 'POST', url: '/api/users/invite-link?role=admin&expiration=60', headers: { ...admin, host: 'evil.example' }
  })
  t.equal(invite.statusCode, 201)
  const { token, url: link } = invite.json<{ token: string, url: string }>()
  t.equal(link, `https://home.example/games/register?token=${token}`)
  const stored = JSON.stringify((await app.pg.query('select * from one_time_tokens')).rows)
  t.notOk(stored.includes(token) || token.split('.').some((part) => stored.includes(part)), 'only its hash is kept')
  const guest = await guestHeaders(app)
  const register = (fields: object) => call('POST', '/register', guest,
    { username: 'invited', email: '', password: 'a password', token, role: 'admin', ...fields })
  for (const fields of [{ username: 'x' }, { username: 'ADMIN' }, { email: 'no' }, { password: 'short' }]) {
    t.equal((await register(fields)).statusCode, 400, JSON.stringify(fields))
  }
  const replies = await Promise.all(['one', 'two', 'three'].map((name) => register({ username: `invited-${name}` })))
  t.same(replies.map(({ statusCode }) => statusCode).sort(), [201, 400, 400], 'once, however many come at once')
  t.equal(replies.find(({ statusCode }) => statusCode === 201)?.json<UserView>().role, 'admin')
  t.equal((await register({})).statusCode, 400)
  const registerBare = (headers: Record<string, string>) =>
    call('POST', '/register', headers, { username: 'invited', email: '', password: 'a password', token: 'x' })
  const browsers: Record<string, string>[] =
    [{ cookie: 'a=b' }, { origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]
  for (const headers of browsers) {
    const refused = await registerBare(headers)
    t.equal(refused.statusCode, 403, `a browser without the CSRF pair: ${JSON.stringify(headers)}`)
    t.match(refused.json(), { detail: /^CSRF token missing/ })
  }
  t.equal((await registerBare({})).statusCode, 400, 'a program without cookies needs no CSRF pair')
  for (const wrong of ['', 'x', `${token}x`, token.split('.').toSpliced(2, 1, '').join('.')]) {
    t.equal((await register({ token: wrong })).statusCode, 400)
  }
})

t.test("an invite opens a page under the server's path that loads nothing external", async (t) => {
  const page = await app.inject({ url: '/games/register?token=x' })
  t.match(page.headers, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' })
  const assets = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')
  t.same(assets, ['/games/register.css', '/games/register.js'])
  for (const path of assets) t.equal((await app.inject({ url: path })).statusCode, 200, path)
})

t.test("an invite ends with its time, and with its maker's permission", async (t) => {
  const mia = await make('mia', 'admin')
  const invite = async (role: string) =>
    (await call('POST', `/invite-link?role=${role}`, mia.headers)).json<{ token: string }>().token
  const register = async (username: string, token: string) =>
    (await call('POST', '/register', admin, { username, email: '', password: 'a password', token })).statusCode
  const [late, asAdmin, asUser, orphaned] = [await invite('user'), await invite('admin'), await invite('user'), await invite('user')]
  await app.pg.query(`update one_time_tokens set expires_at = now() - interval '1 second' where created_at =
    (select min(created_at) from one_time_tokens where user_id = $1)`, [mia.id])
  t.equal(await register('too-late', late), 400)
  await call('PUT', `/${mia.id}`, admin, { role: 'user' })
  t.equal(await register('by-a-former-admin', asAdmin), 400)
  await app.inject({
    method: 'PUT', url: `/api/permissions/users/${mia.id}`, headers: admin,
    payload: { overrides: [{ entity: 'users', action: 'write', granted: true }] }
  })
  t.equal(await register('by-a-member', asUser), 201)
  await call('PUT', `/${mia.id}`, admin, { enabled: false })
  t.equal(await register('by-nobody', orphaned), 400)
  for (const query of ['role=viewer', 'role=Admin', 'role=user&expiration=0', 'role=user&expiration=-5', 'role=user&expiration=99999999999']) {
    t.equal((await call('POST', `/invite-link?${query}`, admin)).statusCode, 400, query)
  }
  t.equal((await call('POST', '/invite-link', admin)).statusCode, 422)
})

t.test('progress at RetroAchievements needs a name and a provider that can be asked', async (t) => {
  const [robin, other] = [await make('robin'), await make('otto')]
  const refresh = async (id: number, headers: Headers, payload?: object) =>
    (await call('POST', `/${id}/ra/refresh`, headers, payload)).statusCode
  t.same([await refresh(robin.id, robin.headers), await refresh(99_999, admin)], [404, 404])
  t.equal(await refresh(other.id, robin.headers), 403)
  await call('PUT', `/${robin.id}`, robin.headers, { ra_username: 'robin' })
  t.same([await refresh(robin.id, robin.headers, { incremental: true }), await refresh(robin.id, admin)], [503, 503])
})

t.test('users are listed for callers with the scope; everybody sees themselves', async (t) => {
  const dana = await make('dana')
  t.equal((await call('GET', '', dana.headers)).statusCode, 403)
  const [list, ids] = [(await call('GET', '', admin)).json<UserView[]>(), (await call('GET', '/identifiers', admin)).json<number[]>()]
  t.same(ids, list.map(({ id }) => id))
  t.match(list.find(({ id }) => id === dana.id), { username: 'dana', current_device_id: null })
  const browser = await signIn('dana')
  const { rows: [device] } = await app.pg.query<{ device_id: string }>(
    'select d.device_id from devices d join sessions s on s.device_id = d.id where s.user_id = $1', [dana.id])
  t.match((await call('GET', '/me', browser)).json(), { id: dana.id, current_device_id: device?.device_id ?? 'a device' })
  t.match((await call('GET', '/me', dana.headers)).json(), { id: dana.id, current_device_id: null })
})

t.test('of hosts that start at once, one creates the administrator, and none warns', async (t) => {
  const databaseUrl = await createTestDatabase(t)
  const lines: string[] = []
  const start = () => buildTestApp(t, {
    databaseUrl,
    withoutAdmin: true,
    env: { SVC_ADMIN_USERNAME: 'chief', SVC_ADMIN_PASSWORD: 'a long password' },
    log: ({ msg }) => { lines.push(String(msg)) }
  })
  await withConnection(databaseUrl, async (client) => {
    await client.query('begin; lock table users in exclusive mode')
    const starting = Promise.all([start(), start()])
    await until(async () => (await client.query(`select from pg_locks l join pg_database d on d.oid = l.database
      where d.datname = current_database() and not l.granted`)).rowCount === 2, 'both hosts at the insertion')
    await client.query('commit')
    await starting
  })
  t.same(lines.filter((line) => line.includes('administrator')), ['first administrator created'])
})
