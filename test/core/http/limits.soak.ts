import { gzipSync } from 'node:zlib'
import t from 'tap'
import { startClient, startServer } from './server.ts'

t.test('a small body that decodes to a huge one is refused', async (t) => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
  const server = await startServer(t, (_request, response) => {
    response.setHeader('content-encoding', 'gzip')
    response.end(bomb)
  })
  const client = startClient(t)
  const before = process.memoryUsage().arrayBuffers
  await t.rejects(client.request(server.url, { maxBytes: 1024 * 1024 }), { message: /more than the 1,048,576 bytes/ })
  t.ok(process.memoryUsage().arrayBuffers - before < 32 * 1024 * 1024, 'and never held in memory')
})
