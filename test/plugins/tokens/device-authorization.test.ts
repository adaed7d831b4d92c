import t from 'tap'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { bearer, createCaller, dumpDatabase } from './support.ts'

const { app, admin: adminHeaders, createUser } = await buildTestApp(t)
const admin = createCaller(app, adminHeaders)
const alice = createCaller(app, await createUser('alice'))
const bob = createCaller(app, await createUser('bob'))

const AUTH = '/api/auth/device'
const APP = {
  client_device_identifier: 'install-1',
  name: 'Handheld',
  client: 'companion',
  platform: 'linux',
  client_version: '1.2.0',
  requested_scopes: ['roms.read', 'me.read', 'users.write']
}
const ALLOWED = ['me.read', 'roms.read']

const execute = async (sql: string, values: unknown[] = []) =>
  (await app.pg.query<Record<string, unknown>>(sql, values)).rows
/** Lets a device poll again without waiting. */
const letPoll = () => execute("update device_authorizations set polled_at = now() - interval '5 seconds'")

/** Starts a companion app on a device of its own. */
async function start (extra: object = {}) {
  const device = createCaller(app)
  const { body } = await device.post(`${AUTH}/init`, { ...APP, ...extra })
  const poll = async () => await device.post(`${AUTH}/token`, { device_code: body.device_code })
  return { code: body.user_code as string, body, poll }
}

const approve = (code: string, extra: object = {}, by = alice) =>
  by.post(`${AUTH}/approve`, { user_code: code, approved_scopes: ALLOWED, ...extra })

async function letIn (extra: object = {}, by = alice) {
  const { code, poll } = await start(extra)
  await approve(code, {}, by)
  return (await poll()).body as { access_token: string, device_id: string, device_number: number }
}

t.test('an approved device fetches a token that is bound to it', async (t) => {
  const { code, body, poll } = await start()
  t.match(body, {
    device_code: /^[0-9a-f]{64}$/,
    user_code: /^[A-HJKMNP-Z2-9]{8}$/,
    verification_uri: /^http:\/\/[^/]+\/pair\/device$/,
    verification_uri_complete: new RegExp(`^http://[^/]+/pair/device\\?user_code=${code}$`),
    verification_path: '/pair/device',
    verification_path_complete: `/pair/device?user_code=${code}`,
    expires_in: 600,
    interval: 5
  })
  t.match(await poll(), { status: 400, body: { detail: 'authorization_pending' } })
  t.match(await poll(), { status: 400, body: { detail: 'slow_down' } })
  await letPoll()
  t.match(await poll(), { status: 400, body: { detail: 'authorization_pending' } })

  const typed = `${code.slice(0, 4)}- ${code.slice(4)}`.toLowerCase()
  const pending = await alice.get(`${AUTH}/pending/${encodeURIComponent(typed)}`)
  t.equal(pending.status, 200)
  t.match(pending.body, { ...APP, requested_scopes: ['me.read', 'roms.read', 'users.write'], allowed_scopes: ALLOWED })
  t.same((await admin.get(`${AUTH}/pending/${code}`)).body.allowed_scopes, ['me.read', 'roms.read', 'users.write'])

  const approved = await approve(typed, { device_name: ' My handheld ', expires_in: '30d' })
  t.match(approved, { status: 200, body: { device_name: 'My handheld', device_number: Number } })
  const { status, body: granted } = await poll()
  t.equal(status, 200)
  t.match(granted, { device_id: approved.body.device_id, scopes: ALLOWED, access_token: /^svc_[0-9a-f]{64}$/ })
  t.ok(Math.abs(Date.parse(granted.expires_at) - Date.now() - 30 * 86_400_000) < 60_000)
  t.match(await poll(), { status: 400, body: { detail: 'expired_token' } }, 'it is handed out once')

  t.equal((await createCaller(app, bearer(granted.access_token)).get('/api/users/me')).body.username, 'alice')
  const [token] = (await alice.get('/api/client-tokens')).body
  t.match(token, {
    name: 'My handheld', device_id: granted.device_id, device_number: granted.device_number, scopes: ALLOWED
  })
  t.match(await execute('select * from devices where device_id = $1', [granted.device_id]), [{
    id: granted.device_number, name: 'My handheld', platform: 'linux', client: 'companion', client_version: '1.2.0',
    client_device_identifier: 'install-1', sync_mode: 'api', last_seen: Date
  }])
})

t.test('a device may get a token that never expires', async (t) => {
  for (const expiry of [{}, { expires_in: null }, { expires_in: 'never' }]) {
    const { code, poll } = await start()
    t.equal((await approve(code, expiry)).status, 200)
    t.match(await poll(), { status: 200, body: { expires_at: null } })
  }
})

t.test('a returning installation updates its device; another user gets another device', async (t) => {
  const first = await letIn({ client_device_identifier: 'again' })
  await execute("update devices set last_seen = now() - interval '1 day' where id = $1", [first.device_number])
  const second = await letIn({ client_device_identifier: 'again', name: 'Renamed', client_version: '2.0' })
  t.equal(second.device_id, first.device_id)
  t.match(await execute("select name, client_version, last_seen > now() - interval '1 minute' as is_seen from devices where id = $1",
    [first.device_number]), [{ name: 'Renamed', client_version: '2.0', is_seen: true }])
  const other = await letIn({ client_device_identifier: 'again' }, bob)
  t.not(other.device_id, first.device_id)
})

t.test('two concurrent approvals of one installation create one device', async (t) => {
  const extra = { client_device_identifier: 'twice' }
  const requests = await Promise.all([start(extra), start(extra), start(extra)])
  const approvals = await Promise.all(requests.map(({ code }) => approve(code)))
  t.same(approvals.map(({ status }) => status), [200, 200, 200])
  t.equal(new Set(approvals.map(({ body }) => body.device_id)).size, 1)
})

t.test('an approved token is handed out once, however many polls run at once', async (t) => {
  const { code, body } = await start()
  await approve(code)
  // Each poll has its own address, because the quota of one address would serialize them.
  const polls = await Promise.all(Array.from({ length: 8 }, () =>
    createCaller(app).post(`${AUTH}/token`, { device_code: body.device_code })))
  t.equal(polls.filter(({ status }) => status === 200).length, 1)
  t.equal(polls.filter(({ body }) => body.detail === 'expired_token').length, 7)
})

t.test('a request is answered once, and then its code is invalid', async (t) => {
  const { code, body } = await start()
  const answers = await Promise.all([approve(code), bob.post(`${AUTH}/deny`, { user_code: code }), approve(code, {}, bob)])
  const statuses = answers.map(({ status }) => status)
  t.equal(statuses.filter((status) => status === 200).length, 1)
  t.equal(statuses.filter((status) => status === 404 || status === 410).length, 2)
  for (const late of [
    alice.get(`${AUTH}/pending/${code}`), approve(code), alice.post(`${AUTH}/deny`, { user_code: code }),
    alice.get(`${AUTH}/pending/AAAA2222`), alice.get(`${AUTH}/pending/${body.device_code}`)
  ]) t.equal((await late).status, 404)
})

t.test('a denied device can learn that for a minute', async (t) => {
  const { code, poll } = await start()
  t.match(await bob.post(`${AUTH}/deny`, { user_code: code }), { status: 200, body: null })
  t.match(await poll(), { status: 400, body: { detail: 'access_denied' } })
  const rows = await execute("select extract(epoch from expires_at - now())::int as seconds from device_authorizations where status = 'denied'")
  t.ok(rows.some(({ seconds }) => Number(seconds) > 50 && Number(seconds) <= 60))
  await execute("update device_authorizations set expires_at = now() - interval '1 second' where status = 'denied'")
  t.match(await poll(), { status: 400, body: { detail: 'expired_token' } })
})

t.test('a request expires, and so does an approval that is not fetched', async (t) => {
  const [waiting, approved] = await Promise.all([start(), start()])
  await approve(approved.code)
  await execute("update device_authorizations set expires_at = now() - interval '1 second'")
  t.equal((await alice.get(`${AUTH}/pending/${waiting.code}`)).status, 404)
  t.equal((await approve(waiting.code)).status, 404)
  t.match((await waiting.poll()).body, { detail: 'expired_token' })
  t.match((await approved.poll()).body, { detail: 'expired_token' })
  await app.tokens.authorizations.dropExpired()
  t.same(await execute('select 1 from device_authorizations where expires_at < now()'), [])
})

t.test('a token is not handed out if it or its device is deleted before', async (t) => {
  const [revoked, unbound] = await Promise.all([start(), start({ client_device_identifier: 'gone' })])
  await approve(revoked.code)
  const [{ id }] = (await alice.get('/api/client-tokens')).body
  await alice.delete(`/api/client-tokens/${id}`)
  t.match(await revoked.poll(), { status: 400, body: { detail: 'expired_token' } })
  const { body } = await approve(unbound.code)
  await execute('delete from devices where id = $1', [body.device_number])
  t.match(await unbound.poll(), { status: 400, body: { detail: 'expired_token' } })
})

t.test('only scopes that were requested and that the caller holds can be approved', async (t) => {
  const { code, poll } = await start()
  const narrow = (await alice.post('/api/client-tokens', { name: 'x', scopes: ['me.read', 'me.write'] })).body
  const tries: [string[], typeof alice][] = [
    [[], alice], [['roms.write'], alice], [['users.write'], alice], [['everything'], alice], [['assets.read'], alice],
    [['roms.read'], createCaller(app, bearer(narrow.raw_token))]
  ]
  for (const [scopes, by] of tries) {
    t.equal((await approve(code, { approved_scopes: scopes }, by)).status, 403, `${scopes.join()}`)
  }
  for (const extra of [{ expires_in: '2w' }, { device_name: 'x'.repeat(256) }, { approved_scopes: undefined }]) {
    t.equal((await approve(code, extra)).status, 422)
  }
  t.match((await poll()).body, { detail: 'authorization_pending' }, 'it still waits')
  t.equal((await approve(code, { approved_scopes: ['roms.read', 'roms.read'] })).status, 200)
  t.same((await poll()).body.scopes, ['roms.read'])
})

t.test('the facts that a device sends are checked', async (t) => {
  const device = createCaller(app)
  for (const wrong of [
    { requested_scopes: ['everything'] }, { requested_scopes: [] }, { name: '' }, { client: 'x'.repeat(51) },
    { client_device_identifier: 'a\0b' }, { client_version: 1 }
  ]) t.equal((await device.post(`${AUTH}/init`, { ...APP, ...wrong })).status, 422, JSON.stringify(wrong))
  t.equal((await device.post(`${AUTH}/token`, { device_code: 'x'.repeat(129) })).status, 422)
  const { body } = await device.post(`${AUTH}/init`, { ...APP, platform: null, client_version: undefined, name: 'lone \ud800' })
  t.match(await alice.get(`${AUTH}/pending/${body.user_code}`), { status: 200, body: { platform: null, client_version: null } })
})

t.test('an address starts ten requests and polls sixty times a minute', async (t) => {
  const device = createCaller(app)
  const started = await Promise.all(Array.from({ length: 11 }, () => device.post(`${AUTH}/init`, APP)))
  t.equal(started.filter(({ status }) => status === 201).length, 10)
  t.match(started.find(({ status }) => status === 429)?.headers['retry-after'], /^\d+$/)
  const polls = await Promise.all(Array.from({ length: 61 }, () => device.post(`${AUTH}/token`, { device_code: 'x' })))
  t.equal(polls.filter(({ status }) => status === 400).length, 60)
  await execute("update throttles set blocked_until = now() - interval '1 second'")
  t.equal((await device.post(`${AUTH}/token`, { device_code: 'x' })).status, 400, 'a minute later')
})

t.test("using a bound token updates its device's last use, at most every five minutes", async (t) => {
  const granted = await letIn({ client_device_identifier: 'seen' })
  const device = createCaller(app, bearer(granted.access_token))
  const age = async () => Number((await execute('select extract(epoch from now() - last_seen)::int as age from devices where id = $1',
    [granted.device_number]))[0]?.age)
  const makeOlder = async (seconds: number) => {
    await execute('update devices set last_seen = now() - make_interval(secs => $2) where id = $1', [granted.device_number, seconds])
    await execute('update client_tokens set last_used_at = now() - make_interval(secs => $2) where device_id = $1',
      [granted.device_number, seconds])
  }
  await makeOlder(200)
  await device.get('/api/users/me')
  t.ok(await age() >= 200)
  await makeOlder(400)
  await until(async () => {
    await device.get('/api/users/me')
    return await age() < 60
  }, 'the device is seen')
})

t.test('answers are recorded, and the database contains no secret or code', async (t) => {
  const [approved, denied] = await Promise.all([start({ name: 'Recorded' }), start({ name: 'Turned away' })])
  const waiting = await dumpDatabase(app)
  await approve(approved.code)
  await alice.post(`${AUTH}/deny`, { user_code: denied.code })
  const sealed = await dumpDatabase(app)
  const { access_token: token } = (await approved.poll()).body
  const dump = waiting + sealed + await dumpDatabase(app)
  t.match(dump, /Turned away/)
  for (const secret of [token, token.replace('svc_', ''), approved.code, denied.code, approved.body.device_code]) {
    t.notOk(dump.includes(secret))
  }
  const events = (await admin.get('/api/audit-log?limit=2')).body.items
  t.match(events, [
    { event: 'device.denied', username: 'alice', details: { device_name: 'Turned away' } },
    { event: 'device.approved', username: 'alice', details: { device_name: 'Recorded' } }
  ])
})

t.test('the approval page loads only its own files and runs no inline script', async (t) => {
  const page = await app.inject('/pair/device?user_code=AAAA2222')
  t.equal(page.statusCode, 200)
  t.match(page.headers, { 'content-type': /^text\/html/, 'content-security-policy': /default-src 'self'.*frame-ancestors 'none'/ })
  t.notMatch(page.body, /<script(?![^>]* src=)|<style| on\w+=/)
  for (const [url, type] of [['/pair/device.js', 'text/javascript'], ['/pair/device.css', 'text/css']] as const) {
    t.ok(page.body.includes(`"${url}"`))
    t.match(await app.inject(url), { statusCode: 200, headers: { 'content-type': new RegExp(`^${type}`) } })
  }
  t.notMatch((await app.inject('/openapi.json')).body, /"\/pair\/device/)
})
