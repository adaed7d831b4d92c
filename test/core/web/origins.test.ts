import type { AddressInfo } from 'node:net'
import t from 'tap'
import { type TestApp, shareTestApp } from '../../support.ts'
import { loadConfig } from '../../load-config.ts'

const NAMED = 'https://app.example.org'
const OTHER = 'https://evil.example.org'

const closed = shareTestApp(t)
const named = shareTestApp(t, { env: { SVC_CORS_ALLOWED_ORIGINS: `${NAMED},capacitor://localhost` } })
const any = shareTestApp(t, { env: { SVC_CORS_ALLOWED_ORIGINS: `*,${NAMED}` } })

/** Returns the CORS headers of a response, without their prefix. */
function corsOf (headers: Record<string, unknown>): Record<string, unknown> {
  const prefix = 'access-control-'
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => [name.slice(prefix.length), value]))
}

const preflight = ({ app }: TestApp, origin: string) => app.inject({
  method: 'OPTIONS',
  url: '/api/roms',
  headers: { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization,x-csrftoken' }
})

t.test('V7: without a list no page of another site may read a response', async (t) => {
  const test = await closed(t)
  for (const origin of [NAMED, OTHER, 'null']) {
    const reply = await test.app.inject({ url: '/api/heartbeat', headers: { origin, ...test.admin } })
    t.equal(reply.statusCode, 200)
    t.same(corsOf(reply.headers), {})
    t.same(corsOf((await preflight(test, origin)).headers), {})
  }
})

t.test('V7: a named site may call with credentials; any other may not', async (t) => {
  const test = await named(t)
  for (const [url, status] of [['/api/heartbeat', 200], ['/api/roms', 401], ['/api/nothing', 404]] as const) {
    const reply = await test.app.inject({ url, headers: { origin: NAMED } })
    t.equal(reply.statusCode, status)
    t.match(corsOf(reply.headers), {
      'allow-origin': NAMED, 'allow-credentials': 'true', 'expose-headers': /Content-Disposition, Content-Range, Date, ETag.*X-Patch-Validated/
    })
    t.match(reply.headers.vary, /\bOrigin\b/)
  }
  const asked = await preflight(test, NAMED)
  t.equal(asked.statusCode, 204)
  t.match(corsOf(asked.headers), {
    'allow-origin': NAMED,
    'allow-credentials': 'true',
    'allow-methods': /PUT/,
    'allow-headers': 'authorization,x-csrftoken',
    'max-age': '600'
  })
  t.match(corsOf((await preflight(test, 'capacitor://localhost')).headers), { 'allow-origin': 'capacitor://localhost' })
  for (const origin of [OTHER, `${NAMED}:8443`, `${NAMED}.evil.org`, 'http://app.example.org', 'null', '*']) {
    const reply = await test.app.inject({ url: '/api/heartbeat', headers: { origin, ...test.admin } })
    t.same(corsOf(reply.headers), {}, origin)
    t.same(corsOf((await preflight(test, origin)).headers), {}, origin)
  }
})

t.test('if every site may call, only named ones may use credentials', async (t) => {
  const test = await any(t)
  const other = await test.app.inject({ url: '/api/heartbeat', headers: { origin: OTHER } })
  t.match(corsOf(other.headers), { 'allow-origin': '*', 'allow-credentials': undefined })
  const chosen = await test.app.inject({ url: '/api/heartbeat', headers: { origin: NAMED } })
  t.match(corsOf(chosen.headers), { 'allow-origin': NAMED, 'allow-credentials': 'true' })
})

/** Sends a socket's first request. */
async function openPolling (test: TestApp, headers: Record<string, string>): Promise<Response> {
  if (!test.app.server.listening) await test.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = test.app.server.address() as AddressInfo
  return await fetch(`http://127.0.0.1:${port}/ws/socket.io?EIO=4&transport=polling`, { headers })
}

t.test('sockets follow the same rules, and unnamed sites send no cookies', async (t) => {
  const test = await any(t)
  const chosen = await openPolling(test, { origin: NAMED, cookie: 'svc_session=x' })
  t.equal(chosen.status, 200)
  t.match(corsOf(Object.fromEntries(chosen.headers)), { 'allow-origin': NAMED, 'allow-credentials': 'true' })
  const other = await openPolling(test, { origin: OTHER })
  t.equal(other.status, 200)
  t.match(corsOf(Object.fromEntries(other.headers)), { 'allow-origin': '*', 'allow-credentials': undefined })
  t.equal((await openPolling(test, { origin: OTHER, cookie: 'svc_session=x' })).status, 403)

  const strict = await named(t)
  t.equal((await openPolling(strict, { origin: NAMED })).status, 200)
  const refused = await openPolling(strict, { origin: OTHER })
  t.equal(refused.status, 403)
  t.same(corsOf(Object.fromEntries(refused.headers)), {})
})

t.test('an origin that could never match stops the start', async (t) => {
  for (const origin of ['https://app.example.org/', 'app.example.org', 'null', 'https://a b']) {
    t.throws(() => loadConfig({ SVC_CORS_ALLOWED_ORIGINS: origin }), /SVC_CORS_ALLOWED_ORIGINS/, origin)
  }
})
