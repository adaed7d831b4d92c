import { createHmac } from 'node:crypto'
import { HttpStatusError, InvalidSettingsError, RateLimitedError, ServiceDownError } from '@svc/plugin-sdk'
import { type PlannedResponse, createContext, createNotification, testChannel } from '@svc/plugin-sdk/testing'
import { Value } from '@sinclair/typebox/value'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import channel from '../src/index.ts'

const { definition } = channel
const url = 'https://hooks.example/games/abcd'
const settings = { url, secret: 'not-a-real-secret' }
const responses = new URL('fixtures/', import.meta.url)

t.test('conforms', (t) => testChannel(t, channel, {
  packageUrl: new URL('../package.json', import.meta.url), settings, responses
}))

interface Given { url: string, secret?: string, signature_header?: string }

async function send (t: Test, given: Given, notification = createNotification()) {
  const ctx = createContext({ t, responses, config: {} })
  await definition.deliver(notification, given, ctx)
  const [request] = ctx.requests
  if (request === undefined) throw new Error('nothing was sent')
  return request
}

async function fail (t: Test, answer: Omit<PlannedResponse, 'url'>, given = settings): Promise<Error> {
  const ctx = createContext({ t, config: {}, responses: [{ url: '*', ...answer }] })
  try {
    await definition.deliver(createNotification(), given, ctx)
  } catch (err) {
    if (err instanceof Error) return err
  }
  throw new Error(`${answer.status} was taken for a delivery`)
}

t.test('the body has exactly the fields of the payload', async (t) => {
  const extra = { ...createNotification(), user_id: 3, actor: { id: 1, username: 'ada', email: 'ada@home.example' } }
  const { body } = await send(t, settings, extra)
  t.equal(body, '{"event":"notification","id":7,"kind":"scan_completed","level":"success","title":"Scan completed",' +
    '"body":"12 ROMs were added.","url":"https://svc.example/scan","data":{"added":12},' +
    '"actor":{"id":1,"username":"ada"},"created_at":"2026-01-02T03:04:05.000Z"}')
})

t.test('the signature covers the bytes, also under a second name', async (t) => {
  const notification = createNotification({ title: 'Ünïcödé 🎮', body: 'lone \ud800 half' })
  const { body, headers } = await send(t, { ...settings, signature_header: 'X-Hub-Signature-256' }, notification)
  const expected = `sha256=${createHmac('sha256', settings.secret).update(Buffer.from(body)).digest('hex')}`
  t.match(headers, { 'X-Svc-Signature': expected, 'X-Hub-Signature-256': expected, 'User-Agent': 'Svc' })
  t.match(headers, { 'Content-Type': 'application/json', 'Accept-Encoding': 'identity' })
})

t.test('the library of Standard Webhooks accepts both kinds of secret', async (t) => {
  const encoded = `whsec_${Buffer.alloc(24, 'key').toString('base64')}`
  const first = await send(t, { url, secret: encoded })
  t.match(new Webhook(encoded).verify(first.body, first.headers), { id: 7 })
  const plain = 'whsec_is not base64!'
  const second = await send(t, { url, secret: plain })
  t.match(new Webhook(plain, { format: 'raw' }).verify(second.body, second.headers), { id: 7 })
  t.throws(() => new Webhook(encoded).verify(second.body, second.headers), { message: /No matching signature/ })
})

t.test('the message id is stable over retries, per notification and address', async (t) => {
  const idOf = async (...given: Parameters<typeof send>) => (await send(...given)).headers['webhook-id']
  const id = await idOf(t, settings)
  t.match(id, /^msg_[0-9a-f]{32}$/)
  t.equal(await idOf(t, settings), id)
  t.not(await idOf(t, settings, createNotification({ id: 8 })), id)
  t.not(await idOf(t, settings, createNotification({ created_at: '2026-01-02T03:04:06.000Z' })), id)
  t.not(await idOf(t, { ...settings, url: `${url}?other` }), id)
})

t.test('nothing is signed without a secret', async (t) => {
  for (const given of [{ url }, { url, secret: '' }, { url, secret: '', signature_header: 'X-Signature' }]) {
    const { headers } = await send(t, given)
    t.same(Object.keys(headers).filter((name) => /signature/i.test(name)), [])
  }
})

t.test('any status other than 2xx is a failure', async (t) => {
  for (const status of [301, 302, 308, 400, 401, 403, 404, 409, 410, 422]) t.type(await fail(t, { status }), HttpStatusError, `${status}`)
  for (const status of [500, 502, 503]) t.type(await fail(t, { status }), ServiceDownError, `${status}`)
})

t.test('a rate limit contains the time to wait', async (t) => {
  const seconds = await fail(t, { status: 429, headers: { 'Retry-After': '3' } })
  t.match(seconds, { retryAfterMs: 3000 })
  t.type(seconds, RateLimitedError)
  const date = await fail(t, { status: 429, headers: { 'Retry-After': new Date(Date.now() + 60_000).toUTCString() } })
  t.ok(date instanceof RateLimitedError && Math.abs((date.retryAfterMs ?? 0) - 60_000) < 5_000)
  t.match(await fail(t, { status: 429, headers: { 'Retry-After': 'soon' } }), { retryAfterMs: null })
})

t.test('an error has host, status and 200 characters of the response on one line', async (t) => {
  const { message } = await fail(t, { status: 500, text: `Oops\r\n\u202e\u0007at ${'x'.repeat(300)}` })
  t.equal(message, `hooks.example answered 500 "Oops at ${'x'.repeat(192)}"; see the log of the receiver`)
  t.equal((await fail(t, { status: 502 })).message, 'hooks.example answered 502; see the log of the receiver')
  const cut = await fail(t, { status: 500, text: `${'x'.repeat(199)}🎮` })
  t.ok(cut.message.isWellFormed(), 'no half of a character')
})

t.test('an error shows neither the secret nor the path of the URL', async (t) => {
  const given = { url: 'https://me:password@hooks.example:8443/games/hidden-path?key=hidden-key', secret: 'hidden-secret' }
  const text = `Cannot POST /games/hidden-path?key=hidden-key with hidden-secret of ${given.url}, nor /games/hidden-path`
  for (const answer of [{ status: 404, text }, { status: 500, text }, { error: 'timeout' }] as const) {
    const error = await fail(t, answer, given)
    t.notMatch(error.message, /hidden|password/)
    t.match(error.message, /hooks\.example:8443/)
  }
})

t.test('the description ends with the last four characters of the path', async (t) => {
  t.equal(await definition.describe(settings), 'https://hooks.example/…abcd')
  t.equal(await definition.describe({ url: 'https://me:pw@Hooks.example:8443/a/very-long?key=1#x' }), 'https://hooks.example:8443/…long')
  t.equal(await definition.describe({ url: 'http://hooks.example' }), 'http://hooks.example/…/')
  t.equal(await definition.describe({ url: 'http://' }), 'an address that cannot be read')
})

t.test('an invalid URL is reported as an error in the settings', async (t) => {
  await t.rejects(definition.deliver(createNotification(), { url: 'http://' }, createContext({ t, config: {} })), InvalidSettingsError)
})

t.test('settings must respect their limits', async (t) => {
  const fits = (given: object) => Value.Check(definition.settings, { url, ...given })
  t.ok(fits({}))
  t.ok(fits({ url: 'HTTP://192.168.1.2:8090/' }))
  t.ok(fits({ secret: 'x'.repeat(255), signature_header: 'X-RomM-Signature' }))
  t.ok(fits({ secret: '', signature_header: '' }))
  t.notOk(fits({ url: '' }))
  t.notOk(fits({ url: 'ftp://hooks.example/' }))
  t.notOk(fits({ url: `https://hooks.example/${'x'.repeat(2000)}` }))
  t.notOk(fits({ secret: 'x'.repeat(256) }))
  for (const name of ['Host', 'Content-Length', 'X-', 'X-A\r\nB: c', 'X-A B', `X-${'a'.repeat(63)}`]) {
    t.notOk(fits({ signature_header: name }), JSON.stringify(name))
  }
})
