import { readdir } from 'node:fs/promises'
import { ServiceDownError } from '@svc/plugin-sdk'
import t from 'tap'
import { startClient, startServer } from './server.ts'
import { join, zipOf } from './stream-support.ts'

t.test('an invalid, cut-off or bomb zip fails and leaves no file', async (t) => {
  const tempDir = t.testdir({})
  const zip = await zipOf({ 'a.xml': 'first'.repeat(1_000) })
  const bomb = await zipOf({ 'a.xml': Buffer.alloc(32 * 1024 * 1024) })
  const bodies: Record<string, Buffer> = {
    '/html': Buffer.from('<html>Back soon</html>'), '/half': zip.subarray(0, zip.length / 2), '/bomb': bomb
  }
  const server = await startServer(t, ({ url = '' }, response) => {
    if (url === '/cut') response.writeHead(200, { 'content-length': '9' }).write('x', () => response.destroy())
    else if (bodies[url] === undefined) response.writeHead(404).end()
    else response.end(bodies[url])
  })
  const client = startClient(t, { tempDir })
  const read = async (path: string) => {
    for await (const { chunks } of client.unzip(server.url + path, ['a.xml'])) await join(chunks)
  }
  for (const path of ['/html', '/half']) {
    await t.rejects(read(path), { name: 'ServiceDownError', message: /is not a readable zip; try again later/ }, path)
  }
  await t.rejects(read('/bomb'), { name: 'ServiceDownError', message: /'a\.xml' .* unpacks to 33554432 bytes, which is more than the server accepts/ })
  await t.rejects(read('/cut'), ServiceDownError)
  await t.rejects(read('/none'), { name: 'HttpStatusError', status: 404 })
  t.same(await readdir(tempDir), [])
})
