import { once } from 'node:events'
import { type IncomingMessage, request as sendRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fastify from 'fastify'
import t from 'tap'
import securityHeaders from '../../../core/web/security-headers.ts'
import type { App } from '../../../core/typebox.ts'
import { buildTestApp } from '../../support.ts'

const SOCKETS = '/ws/socket.io'

/** Returns the server's response to these bytes, until it closes the connection. */
async function talk (app: App, bytes: string): Promise<{ status: number, headers: string, body: string }> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => { answer += text }).on('error', () => {})
  const closed = once(socket, 'close')
  socket.write(bytes, 'latin1')
  await closed
  const [headers = '', body = ''] = answer.split('\r\n\r\n', 2)
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(headers)?.[1]), headers, body }
}

t.test('the web server\'s own responses', async (t) => {
  const { app, admin } = await buildTestApp(t, { env: { SVC_CORS_ALLOWED_ORIGINS: 'https://games.example' } })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })

  await t.test('an unknown address or method has the body that apps expect', async (t) => {
    const nowhere = await app.inject({ url: '/api/nowhere/7' })
    t.same([nowhere.statusCode, nowhere.body], [404, '{"detail":"Not Found"}'])
    const method = await app.inject({ method: 'PATCH', url: '/api/heartbeat' })
    t.same([method.statusCode, method.body, method.headers.allow], [405, '{"detail":"Method Not Allowed"}', 'GET, HEAD'])
    const deep = await app.inject({ method: 'DELETE', url: '/api/roms/7/content/x.sfc', headers: admin })
    t.same([deep.statusCode, deep.body], [405, '{"detail":"Method Not Allowed"}'])
  })

  await t.test('every response has the security headers', async (t) => {
    const asked = [
      { url: '/api/heartbeat' }, { url: '/api/users/me' }, { url: '/api/nowhere' }, { url: '/api/roms/x', headers: admin },
      { method: 'POST' as const, url: '/api/logout', headers: { origin: 'https://games.example' } }, { url: '/api/openapi.json' }
    ]
    const answers = await Promise.all(asked.map((one) => app.inject(one)))
    t.same(answers.map(({ statusCode }) => statusCode), [200, 401, 404, 422, 403, 200])
    for (const { headers } of answers) {
      t.match(headers, {
        'content-security-policy': /^default-src 'self';.*frame-ancestors 'none'/,
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'origin-agent-cluster': '?1',
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'x-dns-prefetch-control': 'off',
        'x-download-options': 'noopen',
        'x-frame-options': 'SAMEORIGIN',
        'x-permitted-cross-domain-policies': 'none',
        'x-xss-protection': '0'
      })
      t.notHas(headers, 'strict-transport-security', 'the server is not known to be behind TLS')
    }
  })

  await t.test('a preflight and a request without a host have the security headers', async (t) => {
    const preflight = await app.inject({
      method: 'OPTIONS', url: '/api/roms', headers: { origin: 'https://games.example', 'access-control-request-method': 'GET' }
    })
    t.match(preflight, { statusCode: 204, headers: { 'x-content-type-options': 'nosniff' } })
    t.match((await talk(app, 'GET /api/heartbeat HTTP/1.1\r\n\r\n')).headers, /x-content-type-options: nosniff/i)
  })

  await t.test('an unreadable address has an error like any other', async (t) => {
    const bad = await app.inject({ url: '/api/roms/%zz' })
    t.equal(bad.statusCode, 400)
    t.match(bad.json(), { detail: /^The address '\/api\/roms\/%zz' is not percent-encoded/ })
    const long = await app.inject({ url: `/api/roms/${'7'.repeat(5_000)}` })
    t.equal(long.statusCode, 414)
    t.match(long.json(), { detail: /is longer than the server accepts; shorten it$/ })
  })

  await t.test('a request with an unreadable address cannot go on with its body', async (t) => {
    const answer = await talk(app, 'POST /api/roms/%zz HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\nbeginning')
    t.match(answer, { status: 400, headers: /connection: close/i, body: /percent/ })
  })

  await t.test('a malformed request has an error like any other', async (t) => {
    const cases: [string, number][] = [
      ['Hello\r\n\r\n', 400],
      ['GET /api/heartbeat HTTP/1.1\r\n\r\n', 400],
      ['GET /nowhere HTTP/1.1\r\n\r\n', 400],
      ['GET /api/heartbeat HTTP/1.1\r\nHost: a\r\nhost: b\r\nConnection: close\r\n\r\n', 400],
      ['GET /api/heartbeat HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n', 400],
      ['GET /api/heartbeat HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
      ['GET /api/heartbeat HTTP/1.1\r\nHost: me@a/x\r\nConnection: close\r\n\r\n', 400],
      ['GET /api/heartbeat HTTP/1.1\r\nHost: a:http\r\nConnection: close\r\n\r\n', 400],
      [`GET ${SOCKETS}/?EIO=4&transport=polling HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n`, 400],
      [`GET ${SOCKETS}/?EIO=4&transport=polling HTTP/1.1\r\n\r\n`, 400],
      [`GET ${SOCKETS}/?EIO=4&transport=polling&sid=2-nobody HTTP/1.1\r\n\r\n`, 400],
      [`GET ${SOCKETS}/?EIO=4&transport=websocket HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
      ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
      ['GET /api/heartbeat HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n', 417],
      ['GET /api/heartbeat HTTP/1.1\r\nHost: a\r\nExpect:\r\n\r\n', 417]
    ]
    for (const [bytes, status] of cases) {
      const answer = await talk(app, bytes)
      t.equal(answer.status, status, answer.body)
      t.match(answer.headers, /content-type: application\/json/i)
      t.match(JSON.parse(answer.body), { detail: /; / })
    }
  })

  await t.test('every valid Host header is accepted', async (t) => {
    for (const host of ['', 'a', 'my_nas.local:8080', '127.0.0.1', '[::1]:80', '[fe80::1%25eth0]', 'a.example.', 'b%C3%BCcher.example:']) {
      const answer = await talk(app, `GET /api/heartbeat HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      t.equal(answer.status, 200, host)
    }
  })

  await t.test('the refusal of a malformed HEAD request has no body', async (t) => {
    const answer = await talk(app, `HEAD / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`)
    t.match(answer, { status: 431, headers: /content-length: [1-9]/i, body: /^$/ })
  })

  await t.test('a request that offers another protocol is answered in plain HTTP', async (t) => {
    for (const protocol of ['h2c', 'TLS/1.0', 'websocket']) {
      const answer = await talk(app, 'GET /api/heartbeat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings, close\r\n' +
        `Upgrade: ${protocol}\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n`)
      t.equal(answer.status, 200, protocol)
    }
    const body = '{"username":"nobody","password":"wrong"}'
    const post = await talk(app, 'POST /api/login HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n' +
      `Content-Type: application/json\r\nAuthorization: Basic eDp5\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    t.equal(post.status, 401, 'its body is read')
    const polling = await talk(app, `GET ${SOCKETS}/?EIO=4&transport=polling HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\n` +
      'Upgrade: h2c\r\n\r\n')
    t.equal(polling.status, 200)
  })

  await t.test('the socket endpoint allows its transports\' methods and named origins', async (t) => {
    const endpoint = `${url}${SOCKETS}/?EIO=4&transport=polling`
    const { sid } = JSON.parse((await (await fetch(endpoint)).text()).slice(1)) as { sid: string }
    for (const method of ['DELETE', 'PUT', 'PATCH', 'HEAD']) {
      const answer = await fetch(`${endpoint}&sid=${sid}`, { method })
      t.same([answer.status, answer.headers.get('allow')], [405, 'GET, POST'], method)
    }
    const preflight = (origin: string) => fetch(`${endpoint}&sid=${sid}`,
      { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } })
    const named = await preflight('https://games.example')
    t.equal(named.status, 204)
    t.equal(named.headers.get('access-control-allow-origin'), 'https://games.example')
    t.equal(named.headers.get('access-control-allow-credentials'), 'true')
    t.equal((await preflight('https://evil.example')).headers.get('access-control-allow-origin'), null)
    const withBody = await new Promise<number | undefined>((resolve, reject) => {
      sendRequest(`${endpoint}&sid=${sid}`, { method: 'GET', headers: { 'content-length': 2 } }, (reply) => {
        reply.resume()
        resolve(reply.statusCode)
      }).on('error', reject).end('40')
    })
    t.equal(withBody, 400)
    t.equal((await fetch(`${endpoint}&sid=${sid}`, { method: 'POST', body: '40' })).status, 200, 'the session lives')
  })

  await t.test('a body that is compressed by its transfer coding is refused', async (t) => {
    const answer = await talk(app, `POST /api/client-tokens HTTP/1.1\r\nHost: a\r\nAuthorization: ${admin.authorization}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n')
    t.match(answer, { status: 415, body: /Transfer-Encoding 'gzip'/ })
  })

  await t.test('a form that is announced as too large is refused before it is sent', async (t) => {
    const forms = [['PUT', '/api/roms/1', 80e6, 413], ['POST', '/api/roms/1/patch', 5e9, 400]] as const
    for (const [method, path, bytes, status] of forms) {
      const headers = { ...admin, 'content-type': 'multipart/form-data; boundary=x', 'content-length': bytes }
      const form = sendRequest(`${url}${path}`, { method, headers, signal: AbortSignal.timeout(10_000) })
      form.on('error', () => { /* the test ends the request */ }).flushHeaders()
      const [answer] = await once(form, 'response') as [IncomingMessage]
      t.equal(answer.statusCode, status, path)
      form.destroy()
    }
  })

  await t.test('an empty body counts as none, whatever its type', async (t) => {
    const headers = { ...admin, 'content-type': 'application/json' }
    const { id } = (await app.inject({ method: 'POST', url: '/api/devices', headers, payload: '{}' })).json<{ id: number }>()
    t.equal((await app.inject({ method: 'DELETE', url: `/api/devices/${id}`, headers })).statusCode, 204)
    t.equal((await app.inject({ method: 'POST', url: '/api/login', headers })).statusCode, 200)
    const missing = await app.inject({ method: 'POST', url: '/api/client-tokens', headers })
    t.equal(missing.statusCode, 422, 'where a body is needed it is missed')
    t.match(missing.json(), { detail: [{ loc: ['body'] }] })
    t.match(await app.inject({ method: 'POST', url: '/api/login', headers, payload: ' ' }), { statusCode: 422, body: /json_invalid/ })
    for (const type of ['application/x-www-form-urlencoded', 'text/plain;charset=UTF-8', 'application/octet-stream', 'x']) {
      const post = (path: string) => app.inject({
        method: 'POST', url: path, headers: { ...admin, 'content-type': type, 'content-length': '0' }
      })
      t.equal((await post('/api/notification-channels/1/test')).statusCode, 404, `${type} where no body is read`)
      t.match((await post('/api/tasks/run/nothing')).json(), { detail: /not found/ }, `${type} where a body is optional`)
      t.match((await post('/api/client-tokens')).json(), { detail: [{ loc: ['body'], msg: 'must be object' }] }, type)
    }
    const form = { ...admin, 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' }
    t.equal((await app.inject({ method: 'PUT', url: '/api/users/1', headers: form })).statusCode, 200, 'a form without fields')
  })

  await t.test('a body without a type is read as JSON where the route takes nothing else', async (t) => {
    const post = (path: string, body: string, more = '') =>
      talk(app, `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${admin.authorization}\r\n${more}` +
        `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`)
    t.match(await post('/api/devices', '{"name":"untyped"}'), { status: 201, body: /"untyped"/ })
    t.match(await post('/api/devices', 'x'), { status: 422, body: /json_invalid/ })
    t.match(await post('/api/token', '{}'), { status: 415 }, 'a form has a type')
    t.match(await post('/api/login', '{}'), { status: 415 }, 'no body is read')
    t.match(await post('/api/devices', '{}', 'Origin: https://games.example\r\n'), { status: 415 }, 'a page sends a type')
  })

  await t.test('a deeply nested body is refused on every route', async (t) => {
    const deep = '['.repeat(20_000) + ']'.repeat(20_000)
    const headers = { ...admin, 'content-type': 'application/json' }
    const refusal = { detail: [{ loc: ['body'], type: 'too_deep', msg: 'The body is nested deeper than 32 levels; flatten it' }] }
    for (const [path, payload] of [
      ['/api/sync/sessions/1/complete', `{"play_sessions":[{"x":${deep}}]}`], ['/api/devices', `{"name":${deep}}`], ['/api/login', deep]
    ] as const) {
      const reply = await app.inject({ method: 'POST', url: path, headers, payload })
      t.equal(reply.statusCode, 422, path)
      t.same(reply.json(), refusal)
    }
  })
})

t.test('behind TLS, browsers are told to use only TLS', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(securityHeaders, { strictTransportSecurity: true })
  t.match((await app.inject({ url: '/' })).headers, { 'strict-transport-security': /^max-age=\d{8}; includeSubDomains$/ })
})
