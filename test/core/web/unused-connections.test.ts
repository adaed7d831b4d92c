import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import fastify from 'fastify'
import t from 'tap'
import unusedConnections from '../../../core/web/unused-connections.ts'

t.test('a process closes although a browser opened a connection in advance', async (t) => {
  const app = fastify()
  await app.register(unusedConnections)
  const arrivals = { count: 0 }
  app.server.on('connection', () => { arrivals.count++ })
  let late = Promise.resolve<unknown>(null)
  app.addHook('preClose', async () => {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    late = once(socket, 'close')
    await once(app.server, 'connection')
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const early = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  await once(app.server, 'connection')
  const ended = once(early, 'close')
  await app.close()
  await Promise.all([ended, late])
  t.equal(arrivals.count, 2, 'one before, and one while it closes')
})

t.test('a request that arrived just before the process closes is answered', async (t) => {
  const app = fastify()
  await app.register(unusedConnections)
  app.get('/', async () => 'answer')
  await app.listen({ host: '127.0.0.1', port: 0 })
  const closed = once(app.server, 'connection').then(() => app.close())
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.end('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  const chunks: string[] = []
  socket.setEncoding('utf8').on('data', (text: string) => { chunks.push(text) })
  await Promise.all([once(socket, 'close'), closed])
  t.match(chunks.join(''), /^HTTP\/1\.1 (200|503) /)
})
