import { DeliveryRefusedError, HttpStatusError, InvalidSettingsError, RateLimitedError, ServiceDownError } from '@svc/plugin-sdk'
import { createNotification, createPluginContext, testChannel, type PlannedResponse } from '@svc/plugin-sdk/testing'
import { Value } from '@sinclair/typebox/value'
import t from 'tap'
import { ServiceSchema } from '../src/catalogue.ts'
import channel from '../src/index.ts'
import { SERVICES } from '../src/services/index.ts'
import type { Settings } from '../src/settings.ts'
import { CASES } from './cases.ts'
import { parse } from './support.ts'

const { definition } = channel
const packageUrl = new URL('../package.json', import.meta.url)

for (const name of ['ntfy of one\'s own, with two topics and a token', 'Slack by webhook', 'Telegram', 'Matrix by password', 'Nextcloud', 'JSON']) {
  const { address, answers } = CASES[name] ?? { address: '', answers: [] }
  t.test(`conforms with ${name}`, (t) =>
    testChannel(t, channel, { packageUrl, settings: parse(address), responses: answers }))
}

/** Delivers to one URL with the same response to all requests, and returns the error. */
async function failWith (address: string, response: Omit<PlannedResponse, 'url'>) {
  const ctx = createPluginContext(channel, { responses: [{ url: '*', ...response }] })
  return definition.deliver(createNotification(), parse(address), ctx).then(() => null, (err: unknown) => err)
}

t.test('a refusal names service, status and reason', async (t) => {
  const refused = { status: 400, json: { ok: false, description: 'Bad Request: chat not found' } }
  const err = await failWith('tgram://123456:secret/-100', refused)
  t.ok(err instanceof HttpStatusError)
  t.match(err, { message: 'Telegram answered 400: Bad Request: chat not found; check the fields of the channel' })
})

t.test('a 2xx response without success is a failure', async (t) => {
  const slack = 'slack://xoxb-1234-abcd'
  t.match(await failWith(slack, { json: { ok: false, error: 'channel_not_found' } }),
    { name: 'DeliveryRefusedError', message: /^Slack answered 200, but did not accept the message: channel_not_found/ })
  t.ok(await failWith(slack, { json: { ok: false, error: 'internal_error' } }) instanceof ServiceDownError)
  t.ok(await failWith('pover://user@token', { text: '<html><h1>Welcome</h1>' }) instanceof ServiceDownError)
  t.ok(await failWith('apprise://host.example/key', { status: 204 }) instanceof DeliveryRefusedError)
})

t.test('a long response is no failure if the status confirms the message', async (t) => {
  const text = 'x'.repeat(70_000)
  for (const address of ['json://hook.example', 'xml://hook.example', 'form://hook.example']) t.equal(await failWith(address, { text }), null)
  t.match(await failWith('ntfys://ntfy.example/x', { text }), { message: /more than 65536 bytes/ }, 'ntfy confirms with an id')
})

t.test('temporary failures keep their type', async (t) => {
  const address = 'discord://1/token'
  const limited = await failWith(address, { status: 429, headers: { 'retry-after': '3' } })
  t.ok(limited instanceof RateLimitedError)
  t.match(limited, { retryAfterMs: 3000 })
  t.ok(await failWith(address, { status: 502 }) instanceof ServiceDownError)
  t.ok(await failWith(address, { error: 'timeout' }) instanceof ServiceDownError)
  t.ok(await failWith(address, { status: 409, text: 'busy' }) instanceof HttpStatusError)
})

t.test('a redirect is a failure', async (t) => {
  t.match(await failWith('json://hook.example', { status: 302, headers: { location: 'http://169.254.169.254/' } }),
    { name: 'HttpStatusError', message: /^JSON answered 302; redirects are not followed/ })
})

t.test('no error shows a secret, whatever the service quotes', async (t) => {
  for (const [name, { address }] of Object.entries(CASES)) {
    const settings = parse(address)
    const keys = await definition.secretKeys?.(settings) ?? []
    const secrets = keys.flatMap((key) => settings.fields[key] ?? []).map(String).filter((text) => text.length > 3)
    for (const status of [400, 401, 409, 500]) {
      const text = `no: ${secrets.join(' ')} ${secrets.map(encodeURIComponent).join(' ')}`
      const ctx = createPluginContext(channel, { responses: [{ url: '*', status, text }] })
      const err = await definition.deliver(createNotification(), settings, ctx).then(() => null, (err: unknown) => err)
      t.ok(err instanceof Error, name)
      const shown = JSON.stringify([String(err), err, err instanceof Error ? err.cause : null])
      for (const secret of secrets) t.notOk(shown.includes(secret), `${name} ${status}`)
      t.ok(String(err).length < 400)
    }
  }
})

t.test('reached targets are not notified twice', async (t) => {
  const settings = parse('ntfy://ntfy.example/one/two/three')
  const answers = [{ url: '*', body: '"two"', status: 503, times: 1 }, { url: '*', json: { id: 'x' } }]
  const ctx = createPluginContext(channel, { t, responses: answers })
  await t.rejects(definition.deliver(createNotification(), settings, ctx), ServiceDownError)
  await definition.deliver(createNotification(), settings, ctx)
  t.same(ctx.requests.map(({ body }) => JSON.parse(body).topic), ['one', 'two', 'three', 'two'])
  await definition.deliver(createNotification({ id: 8 }), settings, ctx)
  t.equal(ctx.requests.length, 7)
})

t.test('a session is also closed after a refused message', async (t) => {
  const responses = [
    { url: '*/api/v1/login', json: { data: { userId: 'u1', authToken: 't1' } } }, { url: '*/api/v1/logout', status: 503 },
    { url: '*', status: 400 }
  ]
  const ctx = createPluginContext(channel, { t, responses })
  await t.rejects(definition.deliver(createNotification(), parse('rocket://ada:secret@chat.example/#games'), ctx), { name: 'HttpStatusError' })
  t.match(ctx.requests.at(-1)?.url, '/api/v1/logout')
  t.match(ctx.logs, [{ level: 'warn', message: 'a session could not be ended' }])
})

t.test('a host without a statement is its own Matrix server', async (t) => {
  for (const answer of [{ status: 404 }, { text: '<html>' }, { json: { 'm.homeserver': { base_url: 'http://10.0.0.1/' } } }]) {
    const responses = [
      { url: '*/.well-known/*', ...answer }, { url: '*/join/*', json: { room_id: '!a:m.example' } },
      { url: '*', json: { access_token: 'fresh', user_id: '@ada:m.example', event_id: '$1' } }
    ]
    const ctx = createPluginContext(channel, { t, responses })
    await definition.deliver(createNotification(), parse('matrixs://ada:secret@m.example/#a'), ctx)
    t.ok(ctx.requests.every(({ url }) => url.startsWith('https://m.example/')))
  }
})

t.test('an error with a requested pause wins over other failures', async (t) => {
  const settings = parse('ntfy://ntfy.example/gone/busy')
  const responses = [{ url: '*', body: '"gone"', status: 404 }, { url: '*', status: 429 }]
  const ctx = createPluginContext(channel, { responses })
  await t.rejects(definition.deliver(createNotification(), settings, ctx), RateLimitedError)
})

t.test('long texts are cut by code points, and the link is preserved', async (t) => {
  const ctx = createPluginContext(channel, { t, responses: [{ url: '*', json: { ok: true } }] })
  const long = createNotification({ title: '🎮'.repeat(300), body: '👾'.repeat(5000), url: 'https://svc.example/scan' })
  await definition.deliver(long, parse('tgram://123456:secret/-100'), ctx)
  const { text } = JSON.parse(ctx.requests[0]?.body ?? '')
  t.equal([...text].length, 4096)
  t.ok(text.endsWith('👾…\n\nhttps://svc.example/scan'))
  t.ok(text.isWellFormed())
})

t.test('escaped text stays within the limit', async (t) => {
  const ctx = createPluginContext(channel, { t, responses: [{ url: '*', json: { id: '1' } }] })
  await definition.deliver(createNotification({ title: '*'.repeat(256), body: '_'.repeat(4096) }), parse('discord://1/token'), ctx)
  const { embeds: [{ title, description }] } = JSON.parse(ctx.requests[0]?.body ?? '')
  t.equal(title, `${'\\*'.repeat(127)}…`)
  t.equal([...description].length, 4095)
})

t.test('mentions are disarmed, mail addresses are not', async (t) => {
  const body = '@everyone @here <@1234> <!channel> (@all) ada@mail.example'
  for (const name of ['Discord', 'Slack by webhook', 'Telegram', 'Mattermost', 'Rocket.Chat by webhook', 'Matrix by token', 'Zulip']) {
    const { address, answers } = CASES[name] ?? { address: '', answers: [] }
    const ctx = createPluginContext(channel, { t, responses: answers })
    await definition.deliver(createNotification({ title: '@channel', body }), parse(address), ctx)
    const sent = decodeURIComponent(ctx.requests.at(-1)?.body ?? '')
    t.notMatch(sent, /@(?:everyone|here|all|channel|1234)/, name)
    t.match(sent, 'ada@mail', name)
  }
  const slack = createPluginContext(channel, { t, responses: [{ url: '*', text: 'ok' }] })
  await definition.deliver(createNotification({ body }), parse('slack://a/b/c'), slack)
  t.notMatch(slack.requests[0]?.body, '<!channel>')
})

t.test('only an error raises the priority, unless the channel sets one', async (t) => {
  const prioritiesOf = async (address: string, json: unknown) => {
    const ctx = createPluginContext(channel, { t, responses: [{ url: '*', json }] })
    for (const level of ['info', 'warning', 'error'] as const) {
      await definition.deliver(createNotification({ level }), parse(address), ctx)
    }
    return ctx.requests.map(({ body }) => JSON.parse(body).priority as number)
  }
  t.same(await prioritiesOf('ntfy://a.example/b', { id: 'x' }), [3, 3, 4])
  t.same(await prioritiesOf('gotify://a.example/b', { id: 1 }), [5, 5, 8])
  t.same(await prioritiesOf('pover://a@b', { status: 1 }), [0, 0, 1])
  t.same(await prioritiesOf('ntfy://a.example/b?priority=min', { id: 'x' }), [1, 1, 1])
})

t.test('a channel is described without secrets and options', async (t) => {
  const described = async (address: string) => await definition.describe(parse(address))
  t.equal(await described('ntfys://ada:secret@ntfy.example:81/one/two?priority=max'), 'ntfys://ada:***@ntfy.example:81/one/two')
  t.equal(await described('discord://1234/token'), 'discord://***/***')
  t.equal(await described('barks://api.day.app/d3v1ce'), 'barks://api.day.app/***')
  t.equal(await described('jsons://ada:secret@hook.example/in?+X-Key=secret'), 'jsons://ada:***@hook.example/in')
  for (const [name, { address }] of Object.entries(CASES)) {
    const settings = parse(address)
    const secrets = (await definition.secretKeys?.(settings) ?? []).flatMap((key) => settings.fields[key] ?? [])
    for (const secret of secrets) t.notOk((await definition.describe(settings)).includes(String(secret)), name)
  }
})

t.test('services are listed by name with fields for a form', async (t) => {
  const services = await definition.services?.(createPluginContext(channel, { t })) ?? []
  for (const service of services) t.same([...Value.Errors(ServiceSchema, service)], [])
  const names = services.map((service) => (service as { name: string }).name)
  t.same(names, [...names].sort((a, b) => a.localeCompare(b, 'en')))
  t.equal(names.length, SERVICES.length)
  t.match(services.find((service) => (service as { id: string }).id === 'ntfy'), {
    id: 'ntfy',
    name: 'ntfy',
    setup_url: /^https:/,
    url_fields: ['schema', 'host', 'port', 'topic', 'targets'],
    fields: {
      0: { key: 'schema', type: 'choice', required: false, default: 'ntfys', values: ['ntfy', 'ntfys'], advanced: false },
      1: { key: 'host' },
      2: { key: 'port', type: 'int', min: 1, max: 65535 },
      3: { key: 'user' },
      4: { key: 'password', private: true, advanced: false }
    }
  })
  const keys = SERVICES.map(({ fields }) => Object.keys(fields)).flat()
  for (const hidden of ['verify', 'rto', 'cto', 'retry', 'wait', 'redirect', 'format', 'overflow', 'store', 'emojis', 'tz', 'template']) {
    t.notOk(keys.includes(hidden), hidden)
  }
})

t.test('settings are checked before they are stored', async (t) => {
  const ctx = createPluginContext(channel, { t })
  const check = async (service: string, fields: Settings['fields']) => definition.check?.({ service, fields }, ctx)
  await check('gotify', { host: 'gotify.example', port: '8080', token: 'abc', priority: 'HIGH' })
  const problems: [string, Settings['fields'], RegExp][] = [
    ['unheard-of', {}, /no service 'unheard-of'/],
    ['gotify', { host: 'gotify.example' }, /Gotify needs 'token'/],
    ['gotify', { host: 'gotify.example', token: 'abc', colour: 'red' }, /no field 'colour'/],
    ['gotify', { host: 'gotify.example', token: 'abc', port: 70_000 }, /'port' .*from 1 up to 65535/],
    ['gotify', { host: '1.2.3.4.5', token: 'abc' }, /an invalid host/],
    ['gotify', { host: 'a.example/../b', token: 'abc' }, /'host'/],
    ['gotify', { host: 'a.example', token: 'abc\r\nx: y' }, /'token'/],
    ['gotify', { host: 'a.example', token: 'abc', path: 'a/../b' }, /'path'/],
    ['discord', { webhook_id: '1/2', webhook_token: 'a' }, /'webhook_id'/],
    ['slack', { token_a: 'A', token_b: 'B' }, /cannot be addressed by token_a, token_b alone/],
    ['ntfy', { host: 'a.example', targets: ['a/b'] }, /'targets'/],
    ['json', { host: 'a.example', headers: ['Host=b.example'] }, /'headers'/],
    ['xml', { host: 'a.example', payload: ['<a>=b'] }, /'payload'|in its payload/],
    ['matrix', { host: 'a.example', token: 'abc' }, /needs a room/],
    ['matrix', { host: 'a.example', token: 'abc', mode: 'slack', targets: ['#a'] }, /one room of its webhook/],
    ['slack', { token_a: 'A', token_b: 'B', token_c: 'C', targets: ['ada@mail.example'] }, /only with an access token/]
  ]
  for (const [service, fields, message] of problems) await t.rejects(check(service, fields), { message })
  await t.rejects(check('slack', { token_a: 'A' }), InvalidSettingsError)
})
