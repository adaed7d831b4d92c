import { once } from 'node:events'
import { type AddressInfo, type Socket, connect } from 'node:net'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { currentRequestId, traceRequests } from '../../../core/log/request-id.ts'
import pipelinedRequests from '../../../core/web/pipelined-requests.ts'
import { until } from '../../until.ts'

interface Handled { url: string, id: string | undefined, answer (): void }

/** Starts a server whose requests wait until a test answers them. */
async function listen (t: Test) {
  const app = fastify({ forceCloseConnections: true, genReqId: ({ url = '' }) => url })
  await app.register(pipelinedRequests)
  traceRequests(app)
  const handled: Handled[] = []
  app.get('/*', async ({ url }) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    await Promise.resolve()
    handled.push({ url, id: currentRequestId(), answer: resolve })
    await promise
    return url
  })
  app.post('/body', async ({ body }) => body)
  const connections: Socket[] = []
  app.server.on('connection', (socket) => { connections.push(socket) })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  /** Sends requests in one packet. */
  async function send (...urls: string[]) {
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    let received = ''
    socket.setEncoding('utf8').on('data', (text: string) => { received += text })
    await once(socket, 'connect')
    socket.write(urls.map((url) => `GET ${url} HTTP/1.1\r\nHost: svc\r\n\r\n`).join(''))
    return { socket, received: () => received }
  }
  return { connections, handled, send }
}

t.test('requests of one connection are handled in turn, those of others at once', async (t) => {
  const { handled, send } = await listen(t)
  const { received } = await send('/a', '/b', '/c')
  await until(() => handled.length === 1, 'the first request')
  await send('/other')
  await until(() => handled.length === 2, 'the request of the other connection')
  t.strictSame(handled.map(({ url }) => url), ['/a', '/other'])
  handled[0]?.answer()
  await until(() => handled.length === 3, 'the second request')
  handled[2]?.answer()
  await until(() => handled.length === 4, 'the third request')
  handled[3]?.answer()
  await until(() => received().endsWith('/c'), 'all responses')
  t.match(received(), /^HTTP\/1.1 200 [^]*\/aHTTP\/1.1 200 [^]*\/bHTTP\/1.1 200 [^]*\/c$/)
  t.strictSame(handled.map(({ id }) => id), ['/a', '/other', '/b', '/c'], 'each with its own id')
})

t.test('requests whose connection closes before their turn are not handled', async (t) => {
  const { connections, handled, send } = await listen(t)
  const { socket } = await send('/a', '/b')
  await until(() => handled.length === 1, 'the first request')
  const [connection] = connections
  socket.destroy()
  await until(() => connection?.destroyed, 'the end of the connection')
  handled[0]?.answer()
  await send('/other')
  await until(() => handled.length === 2, 'the request of the other connection')
  t.equal(handled[1]?.url, '/other')
})

t.test('a connection with many waiting requests is not read until they are handled', async (t) => {
  const { connections, handled, send } = await listen(t)
  const { socket, received } = await send('/first')
  await until(() => handled.length === 1, 'the first request')
  const [connection] = connections
  const head = 'POST /body HTTP/1.1\r\nHost: svc\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n'
  socket.write(`${head}"waiting"`.repeat(1_000))
  await until(() => connection?.isPaused(), 'the pause')
  // The first body is already in the buffers of the system, the second is not.
  socket.write(`${head}"the e`)
  handled[0]?.answer()
  await until(() => received().endsWith('waiting'), 'the responses')
  socket.write('nd"')
  await until(() => received().endsWith('the end'), 'the last response')
  t.equal(received().split('waiting').length - 1, 1_000)
})
