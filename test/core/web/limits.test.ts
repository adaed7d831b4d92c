import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import cookie from '@fastify/cookie'
import fastify from 'fastify'
import t from 'tap'
import errorHandler from '../../../core/web/error-handler.ts'
import limits from '../../../core/web/limits.ts'
import { createAddressReader } from '../../../core/config/networks.ts'
import { shareTestApp } from '../../support.ts'

const REQUESTS_PER_MINUTE = 6_000
const GUEST_CONNECTIONS = 200

const fresh = shareTestApp(t)

t.test('a guest over the limit must wait; others and signed-in users need not', async (t) => {
  const { app, admin } = await fresh(t)
  const ask = (remoteAddress: string, headers = {}, url = '/api/nowhere') => app.inject({ url, remoteAddress, headers })
  // Counts requests directly, because real ones would take longer than the minute on a slow machine.
  const guest = { ip: '2001:db8::1', raw: { complete: true }, routeOptions: {} } as never
  for (let left = REQUESTS_PER_MINUTE - 1; left > 0; left--) await app.limitGuest(guest)
  t.not((await ask('2001:db8::1')).statusCode, 429, 'the last one of the minute')
  const refused = await ask('2001:db8::2', {}, '/api/heartbeat')
  t.equal(refused.statusCode, 429, 'another address of the same network')
  t.ok(Number(refused.headers['retry-after']) > 0)
  t.match(refused.json(), { detail: /\S/ })
  t.equal((await ask('2001:db8::1', admin, '/api/roms')).statusCode, 200)
  t.equal((await ask('192.0.2.1', {}, '/api/heartbeat')).statusCode, 200)
})

t.test('a public route accepts no more than a form', async (t) => {
  const { app, admin } = await fresh(t)
  const send = (url: string, kib: number, headers = {}) =>
    app.inject({ method: 'POST', url, headers, payload: { text: 'x'.repeat(kib * 1_024) } })
  const wrong = { authorization: 'Basic eDp5' }
  t.equal((await send('/api/login', 65, wrong)).statusCode, 413)
  t.equal((await send('/api/login', 60, wrong)).statusCode, 401)
  t.not((await send('/api/notifications', 100, admin)).statusCode, 413)
})

t.test('a guest whose body never ends is cut off', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(errorHandler)
  await app.register(cookie)
  await app.register(limits, { bodyMs: 2_000 })
  app.addHook('onRequest', async (request) => { await app.limitGuest(request) })
  app.post('/', async () => null)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const closed = once(socket.resume(), 'close')
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{')
  t.ok(await closed)
  const whole = await app.inject({ method: 'POST', url: '/', payload: {} })
  t.equal(whole.statusCode, 200)
})

t.test('every request has a time limit', async (t) => {
  const { app } = await fresh(t)
  t.equal(app.server.requestTimeout, 3_600_000)
})

t.test('guests of a network have a socket limit; signed-in users do not', async (t) => {
  const { app, createUser } = await fresh(t)
  const headers = await createUser('alice')
  const signedIn = await app.inject({ method: 'POST', url: '/api/login', headers })
  const session = signedIn.cookies.find(({ name }) => name === 'svc_session')?.value
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/ws/socket.io/?EIO=4&transport=polling`
  for (let count = 0; count < GUEST_CONNECTIONS; count++) {
    const answer = await fetch(url)
    if (answer.status !== 200) t.fail(`socket ${count} was refused`)
    await answer.text()
  }
  t.equal((await fetch(url)).status, 403)
  t.equal((await fetch(url, { headers: { cookie: 'svc_session=forged' } })).status, 403)
  t.equal((await fetch(url, { headers: { cookie: `svc_session=${session}` } })).status, 200)
})

t.test('only a trusted proxy determines the address of a visitor', async (t) => {
  const from = (remoteAddress: string | undefined, forwarded: string) =>
    ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as never
  const addressOf = createAddressReader(['172.16.0.0/12'])
  t.equal(addressOf(from('172.18.0.2', '192.0.2.1')), '192.0.2.1')
  t.equal(addressOf(from('172.18.0.2', '10.0.0.1, 192.0.2.1')), '192.0.2.1', 'what the visitor itself said comes first')
  t.equal(addressOf(from('198.51.100.1', '192.0.2.1')), '198.51.100.1')
  t.equal(addressOf(from(undefined, '192.0.2.1')), '')
  t.equal(createAddressReader([])(from('172.18.0.2', '192.0.2.1')), '172.18.0.2')
})

t.test('the example\'s proxy passes on the address that it sees itself', async (t) => {
  const conf = readFileSync(new URL('../../../examples/self-host/nginx.conf', import.meta.url), 'utf8')
  t.match(conf, /^\s*proxy_set_header X-Forwarded-For \$remote_addr;$/m)
})
