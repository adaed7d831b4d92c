import { createHmac } from 'node:crypto'
import t from 'tap'
import { startServer } from '../../core/http/server.ts'
import { openSettings, sealSettings } from '../../../plugins/channels/sealed-settings.ts'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { createChannelTools, packages, startMailServer, startReceiver } from './support.ts'

const lines: string[] = []
const mail = await startMailServer(t)
const home = await startReceiver(t, (_arrival, response) => response.writeHead(500).end('inside knowledge'))
/** The only address in this network that members may reach through that plugin. */
process.env.UNPACED_HOME = home.url
/** Services that a simulated Apprise API server knows. */
const MQTT = {
  service_name: 'MQTT',
  setup_url: null,
  protocols: null,
  secure_protocols: ['mqtts'],
  details: {
    templates: ['{schema}://{password}@{host}/{topic}', '{schema}://{password}@{host}:{port}/{topic}'],
    tokens: {
      host: { name: 'Host', type: 'string', required: true, private: false },
      port: { name: 'Port', type: 'int', min: 1, max: 65_535 },
      password: { name: 'Password', type: 'string', required: true, private: true },
      topic: { name: 'Topic', type: 'string', required: true, private: false }
    },
    args: {},
    kwargs: {}
  }
}
const apprise = await startServer(t, (_request, response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ schemas: [MQTT] })))
process.env.SVC_APPRISE_API_URL = apprise.url
const testApp = await buildTestApp(t, {
  worker: true, packages: packages(), env: mail.env, log: (line) => { lines.push(JSON.stringify(line)) }
})
const { app, admin, createUser } = testApp
const alice = await createUser('alice')
const bob = await createUser('bob')
const tools = createChannelTools(testApp)
const { call, create } = tools

/** Simulates that the last code was sent a minute ago. */
const waitAMinute = () => app.pg.query("delete from throttles where key like 'channel-code-%'")
const detailOf = (reply: { json (): unknown }) => String((reply.json() as { detail: unknown }).detail)

t.test('a webhook is stored, shown without its secrets, changed and deleted', async (t) => {
  const url = 'https://hooks.example.org/services/T0/verysecretpath?key=hidden'
  const reply = await call('POST', '', { type: 'webhook', name: 'Hook', url, secret: 'topsecret', topics: ['scans', 'scans'] }, alice)
  t.equal(reply.statusCode, 201, reply.body)
  const channel = reply.json<{ id: number }>()
  t.same(channel, {
    ...channel,
    type: 'webhook',
    name: 'Hook',
    enabled: true,
    min_level: 'info',
    topics: ['scans'],
    target: 'https://hooks.example.org/…path',
    service: null,
    service_name: null,
    fields: null,
    stored_secrets: null,
    has_secret: true,
    confirmed: true,
    last_delivered_at: null,
    last_error: null,
    consecutive_failures: 0
  })
  t.same((await call('GET', '', undefined, alice)).json(), [channel])

  const patch = async (body: object) => (await call('PATCH', `/${channel.id}`, body, alice)).json<Record<string, unknown>>()
  t.match(await patch({ name: null, enabled: false, min_level: 'error', topics: null }),
    { name: 'Hook', enabled: false, min_level: 'error', topics: null, has_secret: true })
  t.match(await patch({ type: 'email', secret: '' }), { type: 'webhook', topics: null, has_secret: false })
  t.match(await patch({ secret: 'again', name: 'Other' }), { name: 'Other', has_secret: true })
  t.match(await patch({ secret: null }), { has_secret: false })
  t.equal((await call('PATCH', `/${channel.id}`, { name: 'Mine' }, bob)).statusCode, 404)
  const { rows: records } = await app.pg.query<{ username: string }>(
    "select username, details from audit_events where event = 'channel.updated' and details->>'channel_id' = $1", [String(channel.id)])
  t.same(records.map(({ username }) => username), Array(4).fill('alice'), 'each change is on record')
  t.notMatch(JSON.stringify(records), /again|topsecret|hooks\.example/)
  t.equal((await call('DELETE', `/${channel.id}`, undefined, alice)).body, 'null')
  t.same((await call('GET', '', undefined, alice)).json(), [])
})

t.test('a secret stays with the address it was entered for', async (t) => {
  const { id } = await create({ type: 'webhook', url: 'https://one.example.org/a', secret: 'topsecret' }, alice)
  const moved = await call('PATCH', `/${id}`, { url: 'https://two.example.org/a' }, alice)
  t.equal(moved.statusCode, 400)
  t.match(detailOf(moved), /enter its secrets again.*secret/)
  for (const body of [
    { url: 'https://one.example.org/b' }, { url: 'https://two.example.org/', secret: 'new' }, { url: 'https://one.example.org:8443/', secret: '' }
  ]) t.equal((await call('PATCH', `/${id}`, body, alice)).statusCode, 200, JSON.stringify(body))
  await call('DELETE', `/${id}`, undefined, alice)
})

t.test('an invalid channel is refused with the reason', async (t) => {
  const cases: [object, number, RegExp][] = [
    [{ type: 'pigeon' }, 422, /no channel type 'pigeon'.*webhook/],
    [{ type: 'webhook' }, 422, /url.*required/],
    [{ type: 'webhook', url: '' }, 422, /url/],
    [{ type: 'webhook', url: 7 }, 422, /url/],
    [{ type: 'webhook', url: `https://a.example.org/${'a'.repeat(2_000)}` }, 422, /url/],
    [{ type: 'webhook', url: 'https://a.example.org/', secret: 's'.repeat(256) }, 422, /secret/],
    [{ type: 'webhook', url: 'ftp://a.example.org/' }, 400, /https:/],
    [{ type: 'webhook', url: 'https://a.example.org:0/' }, 400, /port/],
    [{ type: 'webhook', url: 'https://a.example.org:77777/' }, 400, /port/],
    [{ type: 'webhook', url: 'http://127.0.0.1:1/' }, 400, /not in the public internet/],
    [{ type: 'webhook', url: 'http://nas.local/' }, 400, /not in the public internet/],
    [{ type: 'webhook', url: 'http://[::ffff:10.0.0.1]/' }, 400, /not in the public internet/],
    [{ type: 'email', address: 'a@b.org\r\nBcc: c@d.org' }, 422, /address/],
    [{ type: 'email', address: 'a@b.org, c@d.org' }, 422, /address/],
    [{ type: 'apprise', service: 'ntfy', fields: { topic: 'x' } }, 400, /Only administrators/],
    [{ type: 'webhook', url: 'https://a.example.org/', min_level: 'success' }, 422, /min_level/],
    [{ type: 'webhook', url: 'https://a.example.org/', topics: ['weather'] }, 422, /topics/],
    [{ type: 'webhook', url: 'https://a.example.org/', name: '' }, 422, /name/]
  ]
  for (const [body, status, reason] of cases) {
    const reply = await call('POST', '', { name: 'x', ...body }, alice)
    t.equal(reply.statusCode, status, JSON.stringify(body))
    t.match(reply.body, reason)
  }
  t.same((await call('GET', '', undefined, alice)).json(), [])
  t.same((await call('POST', '', { name: 'x', type: 'webhook' }, alice)).json(), {
    detail: [{ loc: ['body', 'url'], msg: 'This setting is required', type: 'required' }]
  }, 'a missing setting is named once')
})

t.test('a user has at most 20 channels, even with concurrent requests', async (t) => {
  const replies = await Promise.all(Array.from({ length: 23 }, (_none, index) =>
    call('POST', '', { type: 'webhook', name: `${index}`, url: 'https://a.example.org/' }, bob)))
  t.same(replies.map(({ statusCode }) => statusCode).toSorted(), [...Array(20).fill(201), ...Array(3).fill(400)])
  t.match(detailOf(await call('POST', '', { type: 'webhook', name: 'x', url: 'https://a.example.org/' }, bob)), /20 channels already/)
  await app.pg.query('delete from notification_channels')
})

t.test('an email channel gets no notifications before its code is confirmed', async (t) => {
  await waitAMinute()
  const channel = await create({ type: 'email', address: 'alice@example.org' }, alice)
  t.match(channel, { confirmed: false, target: 'alice@example.org', has_secret: false })
  const code = mail.codeTo('alice@example.org')
  t.match(code, /^\d{6}$/)
  const wrong = code === '000000' ? '111111' : '000000'
  t.equal((await call('POST', `/${channel.id}/test`, undefined, alice)).statusCode, 400)
  await tools.send('alice', [{}])
  t.equal(await tools.count(channel.id), 0)

  t.match(detailOf(await call('POST', `/${channel.id}/confirm`, { code: wrong }, alice)), /wrong/)
  t.equal((await call('POST', `/${channel.id}/resend-code`, undefined, alice)).statusCode, 429)
  t.equal((await call('POST', `/${channel.id}/confirm`, { code: ` ${code}\n` }, bob)).statusCode, 404)
  t.match((await call('POST', `/${channel.id}/confirm`, { code: ` ${code}\n` }, alice)).json(), { confirmed: true })
  t.equal((await call('POST', `/${channel.id}/confirm`, { code: wrong }, alice)).statusCode, 200, 'it is confirmed already')
  t.equal((await call('POST', `/${channel.id}/resend-code`, undefined, alice)).statusCode, 400)
  t.match((await call('POST', `/${channel.id}/test`, undefined, alice)).json(), { ok: true, error: null })
  const { rows } = await app.pg.query<{ details: unknown }>(`select event, username, details from audit_events
    where event like 'channel.%' and details->>'channel_id' = $1 order by id`, [String(channel.id)])
  t.match(rows, [{ event: 'channel.confirmed', username: 'alice' }, { event: 'channel.confirmed', username: 'alice' }],
    'what was confirmed is on record, and no wrong try or stranger')
  t.notMatch(JSON.stringify(rows), code)
  t.match(mail.mails.at(-1)?.content, /Subject: \[Svc\] Test notification/)

  await waitAMinute()
  t.match((await call('PATCH', `/${channel.id}`, { address: 'new@example.org' }, alice)).json(),
    { confirmed: false, target: 'new@example.org' })
  t.equal((await call('POST', `/${channel.id}/confirm`, { code }, alice)).statusCode, 400, 'the code was for another address')
  t.equal((await call('POST', `/${channel.id}/confirm`, { code: mail.codeTo('new@example.org') }, alice)).statusCode, 200)
  await call('DELETE', `/${channel.id}`, undefined, alice)
})

t.test('a code is valid for five tries and half an hour', async (t) => {
  await waitAMinute()
  const { id } = await create({ type: 'email', address: 'tries@example.org' }, alice)
  const code = mail.codeTo('tries@example.org')
  const wrong = code === '000000' ? '111111' : '000000'
  const tries = await Promise.all(Array.from({ length: 5 }, () => call('POST', `/${id}/confirm`, { code: wrong }, alice)))
  t.ok(tries.every((reply) => reply.statusCode === 400 && /wrong/.test(detailOf(reply))))
  t.match(detailOf(await call('POST', `/${id}/confirm`, { code }, alice)), /tried too often/, 'the right one comes too late')

  await waitAMinute()
  t.equal((await call('POST', `/${id}/resend-code`, undefined, alice)).statusCode, 204)
  const second = mail.codeTo('tries@example.org')
  await app.pg.query('update notification_channels set code_expires_at = now() where id = $1', [id])
  t.match(detailOf(await call('POST', `/${id}/confirm`, { code: second }, alice)), /has expired/)
  await waitAMinute()
  await call('POST', `/${id}/resend-code`, undefined, alice)
  t.equal((await call('POST', `/${id}/confirm`, { code: mail.codeTo('tries@example.org') }, alice)).statusCode, 200)
  await call('DELETE', `/${id}`, undefined, alice)
})

t.test('further guesses wait longer and longer, even with a new code, and are logged', async (t) => {
  await waitAMinute()
  const { id } = await create({ type: 'email', address: 'guessed@example.org' }, alice)
  const confirm = (code: string) => call('POST', `/${id}/confirm`, { code }, alice)
  for (let guess = 0; guess < 6; guess++) t.equal((await confirm('wrong')).statusCode, 400)
  const wait = async () => Number((await confirm('wrong')).headers['retry-after'])
  t.ok(await wait() > 30)
  await app.pg.query("delete from throttles where key ~ '^channel-code-(user|target)'")
  t.equal((await call('POST', `/${id}/resend-code`, undefined, alice)).statusCode, 204)
  const refused = await confirm(mail.codeTo('guessed@example.org'))
  t.equal(refused.statusCode, 429)
  const later = () => app.pg.query("update throttles set blocked_until = now() where key like 'channel-code-tries%'")
  await later()
  await confirm('wrong')
  t.ok(await wait() > 60)
  await later()
  t.equal((await confirm(mail.codeTo('guessed@example.org'))).statusCode, 200)
  t.ok(lines.some((line) => /"username":"alice","address":"127\.0\.0\.1".*wrong code for a notification channel/.test(line)))
  await call('DELETE', `/${id}`, undefined, alice)
})

t.test('changing a channel that is deleted meanwhile answers that it is gone', async (t) => {
  await waitAMinute()
  const { id } = await create({ type: 'email', address: 'first@example.org' }, alice)
  await waitAMinute()
  mail.before.take = () => call('DELETE', `/${id}`, undefined, alice)
  t.equal((await call('PATCH', `/${id}`, { address: 'second@example.org' }, alice)).statusCode, 404)
  mail.before.take = async () => {}
})

t.test('one code per minute goes to a user and to an address, even if sent at once', async (t) => {
  await waitAMinute()
  const before = mail.mails.length
  const add = (address: string, headers: typeof alice) => call('POST', '', { type: 'email', name: 'x', address }, headers)
  const replies = await Promise.all(['a', 'b', 'c', 'd'].map((name) => add(`${name}@example.org`, alice)))
  t.same(replies.map(({ statusCode }) => statusCode).toSorted(), [201, 429, 429, 429])
  t.equal(mail.mails.length, before + 1)
  t.match(replies.find(({ statusCode }) => statusCode === 429)?.headers['retry-after'], /^[3-6]\d$/)

  const taken = mail.mails.at(-1)?.to[0] ?? ''
  t.equal((await add(taken.toUpperCase(), bob)).statusCode, 429, 'nor may another user')
  t.equal((await add('free@example.org', bob)).statusCode, 201, 'who has not used up his own turn by that')
  await app.pg.query('delete from notification_channels')
})

t.test('a channel whose code cannot be sent is not stored', async (t) => {
  await waitAMinute()
  const reply = await call('POST', '', { type: 'email', name: 'x', address: 'nobody@example.org' }, alice)
  t.equal(reply.statusCode, 502)
  t.match(detailOf(reply), /could not be sent: The service of the server refused the message; check the destination/)
  t.ok(lines.some((line) => /refuses the address 'nobody@example.org'/.test(line)), 'the log has the rest')
  t.same((await call('GET', '', undefined, alice)).json(), [])
  t.equal((await call('POST', '', { type: 'email', name: 'x', address: 'alice@example.org' }, alice)).statusCode, 201, 'and the turn is not lost')
  await waitAMinute()
  const busy = { type: 'email', name: 'x', address: 'busy@example.org' }
  t.match(await call('POST', '', busy, alice), { statusCode: 502, body: /did not accept the message; the log of the server has the reason/ })
  t.equal((await call('POST', '', busy, alice)).statusCode, 429, 'where nobody knows what became of it, it may have gone out')
  await app.pg.query('delete from notification_channels')
})

t.test('a test returns the response of the destination at once', async (t) => {
  const receiver = await startReceiver(t, ({ path }, response) => {
    response.writeHead(path === '/ok' ? 204 : 500).end('the receiver is broken')
  })
  const { id } = await create({ type: 'webhook', url: `${receiver.url}/broken`, secret: 'topsecret' })
  const failed = (await call('POST', `/${id}/test`)).json<{ ok: boolean, error: string }>()
  t.match(failed, { ok: false, error: /answered 500 "the receiver is broken"/ })
  t.match(await tools.readRow(id), { last_error: failed.error, consecutive_failures: 0, last_delivered_at: null })
  t.equal(receiver.arrivals.length, 1, 'it is not tried again')
  await call('PATCH', `/${id}`, { url: `${receiver.url}/ok`, enabled: false })
  t.same((await call('POST', `/${id}/test`)).json(), { ok: true, error: null }, 'also while it is turned off')
  t.match(await tools.readRow(id), { last_error: null, last_delivered_at: Date })
  const arrival = receiver.arrivals[1]
  const signature = createHmac('sha256', 'topsecret').update(JSON.stringify(arrival?.body)).digest('hex')
  t.equal(arrival?.headers['x-svc-signature'], `sha256=${signature}`)
  await app.pg.query('delete from notification_channels')
})

t.test("a member's channel reaches no private address and shows no response from one", async (t) => {
  const receiver = await startReceiver(t, (_arrival, response) => response.writeHead(500).end('inside knowledge'))
  const { id } = await create({ type: 'webhook', url: `${receiver.url}/x` })
  t.match((await call('POST', `/${id}/test`)).json(), { error: /inside knowledge/ })
  await app.pg.query("update notification_channels set user_id = (select id from users where username = 'alice') where id = $1", [id])
  t.match((await call('POST', `/${id}/test`, undefined, alice)).json(), { ok: false, error: /not in the public internet/ })
  await tools.send('alice', [{}])
  const findTried = () => app.pg.query('select from channel_deliveries where attempts > 0')
  await until(async () => (await findTried()).rowCount === 1, 'a failed try')
  t.equal(receiver.arrivals.length, 1)
  await app.pg.query('delete from notification_channels')
})

t.test("a narrow token of an administrator creates no channel into the server's network", async (t) => {
  const receiver = await startReceiver(t, (_arrival, response) => response.writeHead(500).end('inside knowledge'))
  const { raw_token: raw } = (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: admin, payload: { name: 'x', scopes: ['me.read', 'me.write'] }
  })).json<{ raw_token: string }>()
  const token = { authorization: `Bearer ${raw}` }
  const settings = { type: 'webhook', name: 'x', url: `${receiver.url}/x` }
  t.match(await call('POST', '', settings, token), { statusCode: 400, body: /not in the public internet/ })
  t.match(await call('POST', '', { type: 'apprise', name: 'x', service: 'gotify', fields: {} }, token), { statusCode: 400, body: /Only administrators/ })
  t.equal((await call('GET', '/apprise-services', undefined, token)).statusCode, 403)

  const { id } = await create(settings)
  t.equal((await call('PATCH', `/${id}`, { secret: 'topsecret' }, token)).statusCode, 400)
  t.equal((await call('PATCH', `/${id}`, { name: 'y' }, token)).statusCode, 200)
  t.match((await call('POST', `/${id}/test`)).json(), { error: /inside knowledge/ })

  // Simulates settings that the token entered with a public name which leads inside by now.
  const { rows: [row] } = await app.pg.query<{ sealed: string }>('select sealed from notification_channels where id = $1', [id])
  const kept = openSettings(app.secrets, row?.sealed ?? '')
  if (kept === null) throw new Error('The settings cannot be read')
  await app.pg.query('update notification_channels set sealed = $2 where id = $1',
    [id, sealSettings(app.secrets, { ...kept, is_trusted: false })])
  const count = receiver.arrivals.length
  for (const headers of [token, admin]) {
    t.match((await call('POST', `/${id}/test`, undefined, headers)).json(), { error: /not in the public internet/ })
  }
  const message = { title: 'x', body: 'x' }
  t.equal((await app.inject({ method: 'POST', url: '/api/notifications', headers: admin, payload: message })).statusCode, 201)
  await until(async () => (await app.pg.query('select from channel_deliveries where attempts > 0')).rowCount === 1, 'a failed try')
  t.equal(receiver.arrivals.length, count, 'nothing was sent')
  t.equal((await call('PATCH', `/${id}`, { url: settings.url })).statusCode, 200)
  t.match((await call('POST', `/${id}/test`)).json(), { error: /inside knowledge/ }, 'an administrator who saves it again trusts it')
  await app.pg.query('delete from notification_channels')
})

t.test('a member does not see the response of a destination', async (t) => {
  const settings = { type: 'unpaced', url: `${home.url}/x`, token: 'topsecret' }
  const mine = await create(settings)
  t.match((await call('POST', `/${mine.id}/test`)).json(), { error: 'down, said inside knowledge to ***' })
  const hers = await create(settings, alice)
  t.match((await call('POST', `/${hers.id}/test`, undefined, alice)).json(), { error: 'down, said to ***' })
  await app.pg.query('delete from notification_channels')
})

t.test('an Apprise channel shows its public fields and hides its secrets', async (t) => {
  const services = (await call('GET', '/apprise-services')).json<{ id: string, name: string, fields: { key: string, private: boolean }[] }[]>()
  t.same(services.map(({ name }) => name), services.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b, 'en')))
  const ntfy = services.find(({ id }) => id === 'gotify')
  t.ok(ntfy?.fields.some((field) => field.key === 'token' && field.private))
  const parsed = await call('POST', '/apprise-services/parse', { url: 'gotifys://push.example.org/AbCdEfGhIjKlMnO' })
  t.match(parsed.json(), { service: 'gotify', fields: { host: 'push.example.org', token: 'AbCdEfGhIjKlMnO' }, warnings: [] })
  const pasted = await call('POST', '/apprise-services/parse', { url: ' ntfy://topic?priority=high&overflow=split\n' })
  t.match(pasted.json(), { fields: { topic: 'topic', priority: 'high' }, warnings: [/'overflow'/] })
  for (const url of ['syslog://', 'what is this', 'ntfy:// topic', 'unheard-of://x']) {
    t.equal((await call('POST', '/apprise-services/parse', { url })).statusCode, 400, url)
  }
  for (const [method, path] of [['GET', '/apprise-services'], ['POST', '/apprise-services/parse']] as const) {
    t.equal((await call(method, path, method === 'GET' ? undefined : { url: 'ntfy://x' }, alice)).statusCode, 403)
  }

  const { service, fields } = parsed.json<{ service: string, fields: Record<string, unknown> }>()
  t.equal((await call('POST', '', { name: 'x', type: 'apprise', service: 'unheard-of', fields })).statusCode, 400)
  t.equal((await call('POST', '', { name: 'x', type: 'apprise', service, fields: { nonsense: 'x' } })).statusCode, 400)
  const channel = await create({ type: 'apprise', service, fields })
  t.match(channel, { service: 'gotify', service_name: 'Gotify', stored_secrets: ['token'], has_secret: false, target: /push\.example\.org/ })
  t.notMatch(JSON.stringify(channel), 'AbCdEfGhIjKlMnO')
  const { token: _hidden, ...open } = fields
  t.same(channel.fields, open)

  const kept = await call('PATCH', `/${channel.id}`, { fields: { ...open, priority: 'high' } })
  t.equal(kept.statusCode, 200, kept.body)
  t.match(kept.json(), { stored_secrets: ['token'], fields: { priority: 'high' } })
  const moved = await call('PATCH', `/${channel.id}`, { fields: { ...open, host: 'evil.example.org' } })
  t.equal(moved.statusCode, 400)
  t.match(detailOf(moved), /new destination.*token/)
  t.equal((await call('PATCH', `/${channel.id}`, { fields: { ...open, token: '' } })).statusCode, 400, 'it is needed')
  t.equal((await call('PATCH', `/${channel.id}`, { fields: { ...fields, host: 'other.example.org' } })).statusCode, 200)
  await app.pg.query("update notification_channels set user_id = (select id from users where username = 'alice')")
  const tried = await call('POST', `/${channel.id}/test`, undefined, alice)
  t.match(tried.json(), { ok: false, error: /^Only administrators may have/ })
  await app.pg.query('delete from notification_channels')
})

t.test('a community channel takes its settings from the body', async (t) => {
  const receiver = await startReceiver(t)
  const channel = await create({ type: 'unpaced', url: `${receiver.url}/x`, token: 'topsecret', note: 'n', stray: true })
  t.match(channel, { type: 'unpaced', target: new URL(receiver.url).host, has_secret: true, confirmed: true })
  t.equal((await call('POST', `/${channel.id}/test`)).json<{ ok: boolean }>().ok, true)
  t.match(receiver.arrivals, [{ headers: { 'x-token': 'topsecret' }, body: { title: 'Test notification' } }])
  t.match(await create({ type: 'unpaced', url: 'https://a.example.org/nameless' }), { target: '' })
  await app.pg.query('delete from notification_channels')
})

t.test('after a change of the key, settings are unreadable and can be entered again', async (t) => {
  const { id } = await create({ type: 'webhook', url: 'https://a.example.org/x', secret: 'topsecret' }, alice)
  await app.pg.query("update notification_channels set sealed = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' where id = $1", [id])
  t.match((await call('GET', '', undefined, alice)).json(), [{ id, target: '', fields: null, service: null, has_secret: false }])
  t.match((await call('POST', `/${id}/test`, undefined, alice)).json(), { ok: false, error: /enter them again/ })
  await tools.send('alice', [{}])
  t.match(await tools.waitFor(id, 'a failure', (row) => row.consecutive_failures === 1), { last_error: /enter them again/ })
  t.equal((await call('PATCH', `/${id}`, { name: 'Renamed' }, alice)).statusCode, 200)
  t.equal((await call('PATCH', `/${id}`, { secret: 'x' }, alice)).statusCode, 422)
  t.match((await call('PATCH', `/${id}`, { url: 'https://a.example.org/y', secret: 'x' }, alice)).json(), { has_secret: true, target: /a\.example\.org/ })
  await app.pg.query('delete from notification_channels')
})

t.test('secrets of a service that only the Apprise server knows stay until a change', async (t) => {
  const fields = { host: 'mq.example.org', password: 'verysecretkey', topic: 'games' }
  const channel = await create({ type: 'apprise', service: 'mqtts', fields })
  t.match(channel, { service_name: 'MQTT', target: 'mqtts://mq.example.org/***', stored_secrets: ['password', 'topic'] })
  const { password: _left, ...open } = fields
  const moved = await call('PATCH', `/${channel.id}`, { fields: { ...open, topic: 'other' } })
  t.equal(moved.statusCode, 400)
  t.match(detailOf(moved), /new destination.*password/)
  t.equal((await call('PATCH', `/${channel.id}`, { fields: { ...open, port: 1 } })).statusCode, 400)
  t.equal((await call('PATCH', `/${channel.id}`, { fields: open, name: 'x' })).statusCode, 200, 'the same as before')
  t.equal((await call('PATCH', `/${channel.id}`, { fields: { ...fields, topic: 'other' } })).statusCode, 200)
  await app.pg.query('delete from notification_channels')
})

t.test('a channel of another user is not found', async (t) => {
  const { id } = await create({ type: 'webhook', url: 'https://a.example.org/' }, alice)
  t.same((await call('GET', '', undefined, bob)).json(), [])
  const tries = [['PATCH', '', {}], ['DELETE', ''], ['POST', '/test'], ['POST', '/confirm', { code: '1' }], ['POST', '/resend-code']] as const
  for (const [method, path, body] of tries) {
    t.equal((await call(method, `/${id}${path}`, body, bob)).statusCode, 404, `${method} ${path}`)
    t.equal((await call(method, `/${id}${path}`, body, admin)).statusCode, 404, `${method} ${path} by an administrator`)
  }
  t.match(await tools.readRow(id), { enabled: true })
  await app.pg.query('delete from notification_channels')
})

t.test('no secret is in the log or in the queue', async (t) => {
  const jobs = (await app.pg.query<{ text: string }>("select coalesce(data::text, '') || coalesce(output::text, '') as text from pgboss.job")).rows
  t.ok(jobs.length > 20)
  const written = [...lines, ...jobs.map(({ text }) => text)].join('\n')
  for (const secret of ['topsecret', 'verysecretpath', 'AbCdEfGhIjKlMnO', 'key=hidden']) t.notMatch(written, secret)
})

t.test('email channels need complete mail settings; a refusal names the missing ones', async (t) => {
  const { app, admin } = await buildTestApp(t, { env: { SMTP_HOST: 'mail.example.org', SMTP_USERNAME: 'svc@example.org' } })
  t.match((await app.inject({ url: '/api/heartbeat' })).json(), { NOTIFICATIONS: { EMAIL_ENABLED: false } })
  const payload = { type: 'email', name: 'x', address: 'a@example.org' }
  const reply = await app.inject({ method: 'POST', url: '/api/notification-channels', headers: admin, payload })
  t.equal(reply.statusCode, 400)
  t.match(detailOf(reply), /'email' are not available on this server.*SMTP_FROM/)
})
