import fc from 'fast-check'
import t from 'tap'
import { createAnswerCache } from '../../../core/http/cache.ts'
import { createLog, createStore, readRequest, startClient, startServer } from './server.ts'

/** Longer than a test takes on a busy machine. */
const LONG_MS = 600_000

t.test('equal running requests share one exchange', async (t) => {
  const server = await startServer(t, ({ url, headers }, response) => {
    setImmediate(() => response.end(`${url} ${String(headers['x-own'])}`))
  })
  const client = startClient(t)
  const urls = Array.from({ length: 20 }, () => `${server.url}/same`)
  const texts = await Promise.all(urls.map((url) => client.text(url)))
  t.same([...new Set(texts)], ['/same undefined'])
  t.equal(server.requests.length, 1)

  server.requests.length = 0
  await Promise.all([
    client.text(server.url, { headers: { 'x-own': 'a' } }),
    client.text(server.url, { headers: { 'X-Own': 'a' } }),
    client.text(server.url, { headers: { 'x-own': 'b' } }),
    client.text(server.url, { query: { page: 2 } }),
    client.text(server.url, { method: 'POST' }),
    client.text(server.url, { method: 'POST' })
  ])
  t.equal(server.requests.length, 5)
})

t.test('equal requests are shared even while they wait for a slot', async (t) => {
  const server = await startServer(t, ({ url }, response) => { setImmediate(() => response.end(url)) })
  const client = startClient(t, { rateLimit: { concurrency: 1 } })
  const calls = ['/first', '/same', '/same', '/same', '/other', '/same']
  const texts = await Promise.all(calls.map((path) =>
    client.withSignal(new AbortController().signal, { throwsRateLimits: true }).text(`${server.url}${path}`)))
  t.same(texts, calls)
  t.same(server.requests, ['GET /first', 'GET /same', 'GET /other'])
})

t.test('a cached response uses no slot', async (t) => {
  const held = Promise.withResolvers<undefined>()
  const server = await startServer(t, async ({ url }, response) => {
    if (url === '/held') await held.promise
    response.end(url)
  })
  const client = startClient(t, { rateLimit: { concurrency: 1 } })
  await client.text(`${server.url}/kept`, { cacheMs: LONG_MS })
  const waiting = client.text(`${server.url}/held`)
  t.equal(await client.text(`${server.url}/kept`, { cacheMs: LONG_MS }), '/kept')
  held.resolve(undefined)
  t.equal(await waiting, '/held')
})

t.test('a response tells whether it was cached', async (t) => {
  const server = await startServer(t, (_request, response) => response.end('x'))
  const client = startClient(t)
  const ask = async () => (await client.request(server.url, { cacheMs: LONG_MS })).isReused
  t.same([await ask(), await ask()], [false, true])
  t.equal((await client.request(server.url)).isReused, false)
})

t.test('a failure is shared by running requests and not cached', async (t) => {
  const server = await startServer(t, (_request, response) => {
    response.statusCode = server.requests.length === 1 ? 404 : 200
    setImmediate(() => response.end())
  })
  const client = startClient(t)
  const both = await Promise.allSettled([client.text(server.url), client.text(server.url)])
  t.same(both.map(({ status }) => status), ['rejected', 'rejected'])
  t.equal(await client.text(server.url), '')
})

t.test('a shared exchange continues until its last caller leaves', async (t) => {
  const arrived = [Promise.withResolvers<() => void>(), Promise.withResolvers<() => void>()]
  const closed = Promise.withResolvers<undefined>()
  const server = await startServer(t, (_request, response) => {
    arrived[server.requests.length - 1]?.resolve(() => response.end('done'))
    response.on('close', () => { if (!response.writableEnded) closed.resolve(undefined) })
  })
  const client = startClient(t)
  const [first, second] = [new AbortController(), new AbortController()]
  const leaving = client.withSignal(first.signal).text(server.url)
  const staying = client.withSignal(second.signal).text(server.url)
  const answer = await arrived[0]?.promise
  first.abort(new Error('first left'))
  await t.rejects(leaving, { message: 'first left' })
  answer?.()
  t.equal(await staying, 'done')
  t.equal(server.requests.length, 1)

  const last = client.withSignal(second.signal).text(server.url)
  await arrived[1]?.promise
  second.abort(new Error('second left'))
  await t.rejects(last, { message: 'second left' })
  await closed.promise
})

t.test('a response is reused as long as the caller allows', async (t) => {
  let now = 1_000_000
  const server = await startServer(t, (_request, response) => response.end(String(server.requests.length)))
  const client = startClient(t, { now: () => now })
  const ask = (cacheMs: number) => client.text(server.url, { cacheMs })
  t.equal(await ask(1_000), '1')
  t.equal(await ask(1_000), '1')
  now += 999
  t.equal(await ask(1_000), '1')
  now += 1
  t.equal(await ask(1_000), '2')
  now += 500
  t.equal(await ask(100), '3', 'a stricter caller gets a fresh one')
  t.equal(await ask(0), '4')
})

t.test('a cached POST is identified by its body too', async (t) => {
  const server = await startServer(t, async (request, response) => response.end(await readRequest(request)))
  const client = startClient(t)
  const ask = (body: string) => client.text(server.url, { method: 'POST', body, cacheMs: LONG_MS })
  t.same(await Promise.all([ask('a'), ask('a'), ask('b')]), ['a', 'a', 'b'])
  t.equal(await ask('a'), 'a')
  t.equal(server.requests.length, 2)
})

t.test('a 404 is cached, other failures are not', async (t) => {
  const server = await startServer(t, ({ url }, response) => response.writeHead(Number(url?.slice(1))).end())
  const client = startClient(t)
  for (const status of [404, 404, 403, 403]) {
    await client.request(`${server.url}/${status}`, { accept: [404, 403], cacheMs: LONG_MS })
  }
  t.same(server.requests, ['GET /404', 'GET /403', 'GET /403'])
  await t.rejects(client.request(`${server.url}/404`, { cacheMs: LONG_MS }), { name: 'HttpStatusError' })
})

t.test('the store keeps a response over a restart, without secrets in its key', async (t) => {
  const store = createStore()
  const body = JSON.stringify({ games: 'Zelda '.repeat(1_000) })
  const server = await startServer(t, (_request, response) => {
    response.setHeader('x-left', '5')
    response.end(body)
  })
  const options = { cacheMs: 60_000, query: { apikey: 'hunter2' } }
  await startClient(t, { store, secrets: ['hunter2'] }).request(server.url, options)
  const again = await startClient(t, { store }).request(server.url, options)
  t.equal(again.text(), body)
  t.equal(again.headers['x-left'], '5')
  t.equal(server.requests.length, 1)
  const stored = JSON.stringify([...store.values])
  t.notMatch(stored, /hunter2/)
  t.ok(stored.length < body.length / 5)
})

t.test('a failing store costs a request, not an error', async (t) => {
  const { log, lines } = createLog()
  const server = await startServer(t, (_request, response) => response.end('fresh'))
  const broken = { get: async () => { throw new Error('gone') }, set: async () => { throw new Error('gone') }, delete: async () => {} }
  t.equal(await startClient(t, { store: broken, log }).text(server.url, { cacheMs: 1_000 }), 'fresh')
  t.same(lines.map(({ message }) => message),
    ['response could not be read from the cache', 'request answered', 'response could not be stored in the cache'])

  for (const value of [null, 5, {}, { status: 200, headers: { a: 1 }, kept_at: Date.now(), gzip: '' },
    { status: 200, headers: {}, kept_at: Date.now(), gzip: 'bm90IGd6aXA=' }]) {
    const store = { get: async () => value as unknown, set: async () => {}, delete: async () => {} }
    t.equal(await startClient(t, { store }).text(server.url, { cacheMs: 1_000 }), 'fresh', JSON.stringify(value))
  }
})

t.test('a cached response larger than the caller allows is requested again', async (t) => {
  const server = await startServer(t, (_request, response) => response.end('x'.repeat(100)))
  const client = startClient(t)
  await client.text(server.url, { cacheMs: 1_000 })
  await t.rejects(client.text(server.url, { cacheMs: 1_000, maxBytes: 99 }), { message: /more than the 99 bytes/ })
})

t.test('memory is bounded, and the least recently used responses are evicted', async (t) => {
  const cache = createAnswerCache({ log: createLog().log, now: () => 0, maxBytes: 3 * (1024 + 100) })
  const answer = (size: number) => ({ status: 200, headers: {}, bytes: Buffer.alloc(size) })
  const has = async (key: string) => await cache.get(key, 1) !== null
  for (const key of ['a', 'b', 'c']) await cache.set(key, answer(100), 1)
  t.ok(await has('a'))
  await cache.set('d', answer(100), 1)
  t.same([await has('a'), await has('b'), await has('c'), await has('d')], [true, false, true, true])
  await cache.set('huge', answer(10_000), 1)
  t.notOk(await has('huge'))
  t.ok(await has('d'))
})

t.test('the cache in memory never exceeds its limit', async (t) => {
  const maxBytes = 20 * 1024
  const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), fc.nat(12_000)))
  await fc.assert(fc.asyncProperty(steps, async (sets) => {
    const cache = createAnswerCache({ log: createLog().log, now: () => 0, maxBytes })
    for (const [key, size] of sets) await cache.set(key, { status: 200, headers: {}, bytes: Buffer.alloc(size) }, 1)
    const kept = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => cache.get(key, 1)))
    const last = sets.at(-1)
    const sizes = kept.map((answer) => answer === null ? 0 : answer.bytes.byteLength + 1024)
    const lastIsKept = last === undefined || (await cache.get(last[0], 1))?.bytes.byteLength === last[1]
    return sizes.reduce((sum, size) => sum + size, 0) <= maxBytes && lastIsKept
  }))
  t.pass('for any sequence of answers')
})
