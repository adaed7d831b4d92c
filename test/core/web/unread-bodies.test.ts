import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import type { Readable } from 'node:stream'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import unreadBodies from '../../../core/web/unread-bodies.ts'

const MIB = 1024 ** 2
const BODY = Buffer.alloc(16 * MIB)

async function listen (t: Test): Promise<number> {
  const app = fastify({ forceCloseConnections: true })
  await app.register(unreadBodies)
  app.addContentTypeParser('*', (_request, payload, done) => { done(null, payload) })
  async function refuse (pieces: AsyncIterable<Buffer>): Promise<void> {
    for await (const { length } of pieces) if (length > 0) throw new Error('The disk is full')
  }
  app.put<{ Body: Readable }>('/open', async ({ body }) => { await refuse(body.iterator({ destroyOnReturn: false })) })
  app.put<{ Body: Readable }>('/destroyed', async ({ body }) => { await refuse(body) })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** Sends a request as clients do that read no response before they sent everything. */
async function send (t: Test, port: number, path: string, length = BODY.length) {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  const sent = new Promise<unknown>((resolve) => {
    socket.once('error', resolve)
    socket.write(`PUT ${path} HTTP/1.1\r\nHost: svc\r\nContent-Type: a/b\r\nContent-Length: ${length}\r\n\r\n`)
    socket.write(BODY, () => { resolve(null) })
  })
  return { socket, error: await sent }
}

t.test('a client that sends its whole body first receives the response that refused it', async (t) => {
  const { socket, error } = await send(t, await listen(t), '/open')
  t.equal(error, null)
  const [head] = await once(socket, 'data') as [Buffer]
  t.match(String(head), /^HTTP\/1.1 500 .*\r\n[^]*connection: keep-alive/i)
  // The connection has no rest of the body.
  socket.write('GET / HTTP/1.1\r\nHost: svc\r\nConnection: close\r\n\r\n')
  t.match(String((await once(socket, 'data') as [Buffer])[0]), /^HTTP\/1.1 404 /)
})

t.test('a connection whose body cannot be received any more closes', async (t) => {
  const { socket } = await send(t, await listen(t), '/destroyed')
  if (!socket.closed) await once(socket.resume(), 'close')
  t.equal(socket.destroyed, true)
})

t.test('a refused body larger than that of a chunk closes the connection', async (t) => {
  const { socket } = await send(t, await listen(t), '/open', 80 * MIB)
  socket.resume()
  for (let sent = BODY.length; sent < 80 * MIB && !socket.destroyed; sent += BODY.length) {
    await new Promise((resolve) => { socket.once('error', resolve).write(BODY, resolve) })
  }
  if (!socket.closed) await once(socket, 'close')
  t.equal(socket.destroyed, true)
})
