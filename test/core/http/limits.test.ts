import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { startClient, startServer } from './server.ts'

t.test('a body longer than allowed is refused by its header, before it is read', async (t) => {
  const server = await startServer(t, (_request, response) => {
    response.setHeader('content-length', '1001')
    response.flushHeaders()
  })
  const client = startClient(t)
  await t.rejects(client.request(server.url, { maxBytes: 1_000 }), {
    name: 'ServiceDownError', message: `GET ${server.host}/ answered with more than the 1,000 bytes allowed`
  })
  t.equal(server.requests.length, 1, 'and it is not tried again')
})

t.test('a body longer than allowed is refused while it streams', async (t) => {
  const server = await startServer(t, (_request, response) => {
    response.write('x'.repeat(1_000))
    response.write('x')
  })
  const client = startClient(t)
  await t.rejects(client.request(server.url, { maxBytes: 1_000 }), { message: /more than the 1,000 bytes/ })
})

t.test('a body of exactly the allowed length is accepted', async (t) => {
  const server = await startServer(t, (_request, response) => response.end('x'.repeat(1_000)))
  const client = startClient(t)
  t.equal((await client.request(server.url, { maxBytes: 1_000 })).bytes.byteLength, 1_000)
})

const PACKED: [encoding: string, pack: (text: string) => Buffer][] = [
  ['gzip', gzipSync], ['x-gzip', gzipSync], ['br', brotliCompressSync], ['deflate', deflateSync],
  ['deflate', deflateRawSync], ['GZIP', gzipSync], ['identity', (text) => Buffer.from(text)]
]

t.test('encoded bodies are decoded', async (t) => {
  const server = await startServer(t, (request, response) => {
    const [encoding, pack] = PACKED[Number(request.url?.slice(1))] ?? []
    response.setHeader('content-encoding', encoding ?? '')
    response.end(pack?.('Zelda '.repeat(10_000)))
  })
  const client = startClient(t)
  for (const [index, [encoding]] of PACKED.entries()) {
    t.equal(await client.text(`${server.url}/${index}`), 'Zelda '.repeat(10_000), encoding)
  }
})

t.test('an endless row of empty gzip members is refused by its encoded size', async (t) => {
  const empty = Buffer.concat(Array.from({ length: 1_000 }, () => gzipSync('')))
  const server = await startServer(t, (_request, response) => {
    response.setHeader('content-encoding', 'gzip')
    response.write(empty)
  })
  const client = startClient(t)
  await t.rejects(client.request(server.url, { maxBytes: 10_000 }), { message: /more than the 10,000 bytes/ })
})

t.test('a body that does not match its encoding is an error of the service', async (t) => {
  const server = await startServer(t, (request, response) => {
    response.setHeader('content-encoding', request.url === '/odd' ? 'lzma' : 'gzip')
    response.end('this is plain')
  })
  const client = startClient(t)
  await t.rejects(client.request(`${server.url}/`), { name: 'ServiceDownError', message: /incorrect header check/ })
  await t.rejects(client.request(`${server.url}/odd`), { name: 'ServiceDownError', message: /encoding 'lzma'/ })
})

t.test('a service that sends its response too slowly times out', async (t) => {
  const server = await startServer(t, (_request, response) => {
    const timer = setInterval(() => response.write('.'), 5)
    response.on('close', () => clearInterval(timer))
  })
  const client = startClient(t)
  await t.rejects(client.request(server.url, { timeoutMs: 2_000 }), {
    name: 'ServiceDownError', message: `GET ${server.host}/ took longer than 2000 ms; try again later`
  })
  t.equal(server.requests.length, 1, 'and it is not tried again')
})

t.test('an endless error page does not block the caller', async (t) => {
  const closed = Promise.withResolvers<undefined>()
  const server = await startServer(t, (_request, response) => {
    response.statusCode = 403
    const write = () => {
      while (response.write('x'.repeat(1024))) continue
    }
    response.on('drain', write)
    response.on('close', () => closed.resolve(undefined))
    write()
  })
  const client = startClient(t)
  const err = await client.request(server.url).catch((caught: unknown) => caught)
  t.match(err, { name: 'HttpStatusError', status: 403, body: 'x'.repeat(2_000) })
  await closed.promise
})

t.test('a service that never answers times out', async (t) => {
  const server = await startServer(t, () => {})
  const client = startClient(t)
  await t.rejects(client.request(server.url, { timeoutMs: 500 }), { message: /took longer than 500 ms/ })
  await t.rejects(client.request(server.url, { method: 'HEAD', timeoutMs: 500 }), { message: /took longer than 500 ms/ })
})
