import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createContext, createNotification } from '@svc/plugin-sdk/testing'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import channel from '../../../channels/webhook/src/index.ts'
import type { HttpClientOptions } from '../../../core/http/client.ts'
import { startClient, startServer } from '../../core/http/server.ts'

const secret = `whsec_${Buffer.alloc(24, 'key').toString('base64')}`
const PATH = '/games/hidden-path'

/** Delivers through the channel with the server's own client, which here reaches loopback with a shorter timeout. */
function deliver (t: Test, url: string, options: Partial<HttpClientOptions> & { timeoutMs?: number } = {}) {
  const { timeoutMs, ...rest } = options
  const client = startClient(t, rest)
  const http: typeof client = timeoutMs === undefined
    ? client
    : { ...client, request: (url, given) => client.request(url, { ...given, timeoutMs }) }
  const settings = { url, secret, signature_header: 'X-Other-Signature' }
  return channel.definition.deliver(createNotification({ title: 'Ünïcödé 🎮' }), settings, { ...createContext({ config: {} }), http })
}

async function readBytes (request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await request.toArray() as Buffer[])
}

t.test('the bytes on the wire are the signed bytes', async (t) => {
  const seen: { body: Buffer, headers: IncomingHttpHeaders }[] = []
  const server = await startServer(t, async (request, response) => {
    seen.push({ body: await readBytes(request), headers: request.headers })
    response.writeHead(204).end()
  })
  await deliver(t, server.url + PATH)
  t.same(server.requests, [`POST ${PATH}`])
  const [{ body, headers } = { body: Buffer.alloc(0), headers: {} }] = seen
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  t.match(headers, {
    'content-type': 'application/json',
    'content-length': String(body.length),
    'user-agent': /^Svc$/,
    'accept-encoding': 'identity',
    'x-svc-signature': signature,
    'x-other-signature': signature
  })
  t.match(new Webhook(secret).verify(body, headers as Record<string, string>), { event: 'notification', title: 'Ünïcödé 🎮' })
  const edited = Buffer.from(body.toString().replace('success', 'warning'))
  t.throws(() => new Webhook(secret).verify(edited, headers as Record<string, string>), { message: /No matching signature/ })
})

/** Sends a body without end. */
function pour (response: ServerResponse): void {
  const write = () => { while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x'))) { /* until full */ } }
  response.on('drain', write)
  write()
}

/** Sends a byte from time to time, without end. */
function drip (response: ServerResponse): void {
  const timer = setInterval(() => response.write('.'), 20)
  response.on('close', () => { clearInterval(timer) })
}

t.test('a status of 2xx is a delivery, whatever the body', async (t) => {
  const answers: ((response: ServerResponse) => void)[] = [
    (response) => { pour(response.writeHead(200)) },
    (response) => { response.writeHead(200, { 'content-length': 1_000_000 }).end(Buffer.alloc(1_000_000)) },
    (response) => { drip(response.writeHead(202)) },
    (response) => { response.writeHead(200, { 'content-length': 10 }).write('half', () => { response.destroy() }) },
    (response) => { response.writeHead(200, { 'content-encoding': 'gzip' }).end('not packed') }
  ]
  for (const answer of answers) {
    const server = await startServer(t, async (request, response) => {
      request.resume()
      answer(response)
    })
    await deliver(t, server.url + PATH, { timeoutMs: 2_000 })
    t.equal(server.requests.length, 1)
  }
})

interface Receiver {
  name: string
  answer: (response: ServerResponse) => unknown
  timeoutMs?: number
  /** Name of the error that the response causes. */
  type: string
  message: RegExp
}

const RECEIVERS: Receiver[] = [
  {
    name: 'never answers',
    answer: () => {},
    timeoutMs: 2_000,
    type: 'ServiceDownError',
    message: /took longer than 2000 ms/
  },
  {
    name: 'redirects to the inside',
    answer: (response) => response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end('moved'),
    type: 'HttpStatusError',
    message: /answered 302 "moved"; redirects are not followed/
  },
  {
    name: 'fails without end',
    answer: (response) => { pour(response.writeHead(500)) },
    type: 'ServiceDownError',
    message: /answered 500 "x{200}"; see the log of the receiver/
  },
  {
    name: 'quotes what it got',
    answer: (response) => response.writeHead(410).end(`no ${PATH}?key=hidden-key for ${secret}`),
    type: 'HttpStatusError',
    message: /answered 410 "no … for …"; check the address/
  },
  {
    name: 'hangs up',
    answer: (response) => response.destroy(),
    type: 'ServiceDownError',
    message: /failed: .*check that the service can be reached/
  }
]

for (const { name, answer, type, message, ...options } of RECEIVERS) {
  t.test(`a receiver that ${name} is a failure`, async (t) => {
    const server = await startServer(t, async (request, response) => {
      request.resume()
      answer(response)
    })
    const error = await deliver(t, `${server.url}${PATH}?key=hidden-key`, options).then(() => null, (err: Error) => err)
    t.match(error, { name: type, message })
    t.match(error?.message, server.host)
    t.notMatch(error?.message, /hidden|whsec/)
    t.equal(server.requests.length, 1, 'it is asked once; trying again is not the channel\'s')
  })
}

t.test('V15: a private address is refused at the connection', async (t) => {
  const server = await startServer(t, (_request, response) => response.end())
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  await t.rejects(deliver(t, server.url, { allowPrivate: false }), { name: 'AddressRefusedError' })
  await t.rejects(deliver(t, `http://hooks.example:${server.port}/`, { allowPrivate: false, resolve }), { name: 'AddressRefusedError' })
  t.same(server.requests, [])
})
