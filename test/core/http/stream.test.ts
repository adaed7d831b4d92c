import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { startClient, startServer } from './server.ts'
import { join, zipOf } from './stream-support.ts'

t.test('a body arrives in pieces, decoded, without a default limit', async (t) => {
  const body = Buffer.alloc(40 * 1024 * 1024, 'records ')
  const server = await startServer(t, ({ url }, response) => {
    if (url === '/packed') response.setHeader('content-encoding', 'gzip')
    response.end(url === '/packed' ? gzipSync(body) : body)
  })
  const client = startClient(t)
  for (const path of ['/plain', '/packed']) {
    let bytes = 0
    let pieces = 0
    for await (const chunk of client.stream(server.url + path)) {
      bytes += chunk.length
      pieces++
    }
    t.equal(bytes, body.length, path)
    t.ok(pieces > 10, path)
  }
  await t.rejects(join(client.stream(`${server.url}/plain`, { maxBytes: 1_000 })), { message: /more than the 1,000 bytes/ })
})

t.test('a cut connection is an error, and no bytes arrive twice', async (t) => {
  const server = await startServer(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('first half', () => { setImmediate(() => response.destroy()) })
  })
  let text = ''
  await t.rejects(async () => {
    for await (const chunk of startClient(t).stream(server.url)) text += Buffer.from(chunk).toString()
  }, { name: 'ServiceDownError' })
  t.equal(text, 'first half')
})

t.test('a failure before the first byte is retried', async (t) => {
  let tries = 0
  const server = await startServer(t, (_request, response) => {
    if (++tries < 3) response.writeHead(503).end()
    else response.end('at last')
  })
  t.equal(await join(startClient(t).stream(server.url)), 'at last')
  t.equal(tries, 3)
})

t.test('a consumer that stops ends the request', async (t) => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const server = await startServer(t, (_request, response) => {
    response.on('close', resolve)
    const pour = () => { while (response.write(Buffer.alloc(65_536))); }
    response.on('drain', pour)
    pour()
  })
  const reader = startClient(t).stream(server.url)[Symbol.asyncIterator]()
  t.match(await reader.next(), { done: false })
  await reader.return?.()
  await closed
})

t.test('a slow consumer slows the sender down', async (t) => {
  let sent = 0
  const server = await startServer(t, async (_request, response) => {
    for (; sent < 64; sent++) if (!response.write(Buffer.alloc(1024 * 1024))) await once(response, 'drain')
    response.end()
  })
  const reader = startClient(t).stream(server.url)[Symbol.asyncIterator]()
  await reader.next()
  // Once this other response has arrived, all buffers on the way are full.
  const other = await startServer(t, (_request, response) => { response.end('ok') })
  await startClient(t).text(other.url)
  t.ok(sent < 64, `${sent} MiB were sent to a reader of one piece`)
  await reader.return?.()
})

t.test('the wanted members of a zip are read in order, and no file stays', async (t) => {
  const tempDir = t.testdir({})
  const zip = await zipOf({ 'a.xml': 'first', 'skipped.xml': 'x', 'b.xml': 'second'.repeat(100_000) })
  const server = await startServer(t, (_request, response) => { response.end(zip) })
  const client = startClient(t, { tempDir })
  const read: [string, number, string][] = []
  for await (const { name, size, chunks } of client.unzip(server.url, ['b.xml', 'a.xml', 'none.xml'])) {
    read.push([name, size, (await join(chunks)).slice(0, 6)])
  }
  t.same(read, [['a.xml', 5, 'first'], ['b.xml', 600_000, 'second']])
  t.same(await readdir(tempDir), [])
  const members = client.unzip(server.url, ['a.xml', 'b.xml'])[Symbol.asyncIterator]()
  t.match(await members.next(), { value: { name: 'a.xml' } })
  await members.return?.()
  t.same(await readdir(tempDir), [], 'nor after a reader that stopped early')
})

t.test('a member that differs from the zip\'s directory is an error of the service', async (t) => {
  const zip = await zipOf({ 'a.xml': 'first'.repeat(1_000) })
  const start = 30 + 'a.xml'.length
  zip.fill(0xff, start, start + 12)
  const server = await startServer(t, (_request, response) => { response.end(zip) })
  await t.rejects(async () => {
    for await (const { chunks } of startClient(t).unzip(server.url, ['a.xml'])) await join(chunks)
  }, { name: 'ServiceDownError' })
})
