import type { ServerResponse } from 'node:http'
import { RateLimitedError } from '@svc/plugin-sdk'
import t from 'tap'
import { parseRetryAfter, sleep } from '../../../core/http/retry.ts'
import { startClient, startServer } from './server.ts'

/** Answers with the statuses in turn, and repeats the last one. */
function answers (statuses: number[], headers: Record<string, string> = {}) {
  const left = [...statuses]
  return (_request: object, response: ServerResponse) => {
    const status = (left.length > 1 ? left.shift() : left[0]) ?? 200
    response.writeHead(status, status === 200 ? {} : headers).end(String(status))
  }
}

function recordWaits () {
  const waits: number[] = []
  return { waits, sleep: async (ms: number) => { waits.push(ms) } }
}

t.test('a service that recovers is asked again, with growing waits', async (t) => {
  const server = await startServer(t, answers([502, 503, 200]))
  const { waits, sleep } = recordWaits()
  const client = startClient(t, { sleep, random: () => 0.5 })
  t.equal(await client.text(server.url), '200')
  t.same(waits, [500, 1_000])
})

t.test('after three attempts the service counts as down', async (t) => {
  const server = await startServer(t, answers([504]))
  await t.rejects(startClient(t).text(server.url), {
    name: 'ServiceDownError', message: `GET ${server.host}/ answered 504: the service is down; try again later`
  })
  t.equal(server.requests.length, 3)
})

t.test('a broken connection is retried', async (t) => {
  const server = await startServer(t, (_request, response) => {
    if (server.requests.length === 1) response.destroy()
    else if (server.requests.length === 2) response.writeHead(200, { 'content-length': '4' }).write('ab', () => response.destroy())
    else response.end('abcd')
  })
  t.equal(await startClient(t).text(server.url), 'abcd')
  t.equal(server.requests.length, 3)
})

t.test('a request with an effect is repeated only if the caller allows it', async (t) => {
  const server = await startServer(t, answers([503, 200, 503, 200, 503, 200]))
  const client = startClient(t)
  await t.rejects(client.text(server.url, { method: 'POST' }), { name: 'ServiceDownError' })
  t.equal(server.requests.length, 1)
  server.requests.length = 0
  t.equal(await client.text(server.url, { method: 'POST', retry: true }), '200')
  await t.rejects(client.text(server.url, { retry: false }), { name: 'ServiceDownError' })
})

t.test('other failures are not retried', async (t) => {
  const server = await startServer(t, ({ url }, response) => response.writeHead(Number(url?.slice(1))).end())
  const client = startClient(t)
  for (const status of [400, 401, 404, 500, 501]) await t.rejects(client.request(`${server.url}/${status}`))
  t.equal(server.requests.length, 5)
})

t.test('the client waits as long as the service asks', async (t) => {
  const server = await startServer(t, answers([429, 503, 200], { 'retry-after': '7' }))
  const { waits, sleep } = recordWaits()
  const pauses: number[] = []
  const client = startClient(t, { sleep, onPause: (ms) => pauses.push(ms) })
  t.equal(await client.text(server.url), '200')
  t.same(waits, [7_000, 7_000])
  t.same(pauses, [7_000, 7_000])
})

t.test('a wait of more than a minute is left to the caller', async (t) => {
  const server = await startServer(t, answers([429], { 'retry-after': '61' }))
  const { waits, sleep } = recordWaits()
  const pauses: number[] = []
  const client = startClient(t, { sleep, onPause: (ms) => pauses.push(ms) })
  const err = await client.text(server.url).catch((caught: unknown) => caught)
  t.ok(err instanceof RateLimitedError)
  t.match(err, {
    retryAfterMs: 61_000,
    message: `GET ${server.host}/ answered 429: the service asks to slow down; try again in 61 s`
  })
  t.same(waits, [])
  t.same(pauses, [61_000])
  t.equal(server.requests.length, 1)
})

t.test('a 429 without a time is retried with a growing wait, then reported', async (t) => {
  const server = await startServer(t, answers([429]))
  const { waits, sleep } = recordWaits()
  const pauses: number[] = []
  const client = startClient(t, { sleep, random: () => 0.9, onPause: (ms) => pauses.push(ms) })
  await t.rejects(client.text(server.url), { name: 'RateLimitedError', retryAfterMs: null, message: /try again later/ })
  t.same(waits, [900, 1_800])
  t.same(pauses, [900, 1_800, 3_600])
})

t.test('a rate-limited POST fails at once', async (t) => {
  const server = await startServer(t, answers([429], { 'retry-after': '2' }))
  await t.rejects(startClient(t).text(server.url, { method: 'POST' }), { name: 'RateLimitedError', retryAfterMs: 2_000 })
  t.equal(server.requests.length, 1)
})

t.test('with tellsLimits a rate limit fails at once, and other errors are retried', async (t) => {
  const server = await startServer(t, answers([503, 429], { 'retry-after': '2' }))
  const { waits, sleep } = recordWaits()
  const client = startClient(t, { sleep }).withSignal(new AbortController().signal, { throwsRateLimits: true })
  await t.rejects(client.text(server.url), { name: 'RateLimitedError', retryAfterMs: 2_000 })
  t.equal(server.requests.length, 2)
  t.same(waits, [2_000], 'the 503 was waited out')
})

t.test('Retry-After is seconds or a date', async (t) => {
  const now = Date.UTC(2026, 8, 1, 12, 0, 0)
  const rows: [header: string | undefined, ms: number | null][] = [
    ['0', 0], ['120', 120_000], [' 1.5 ', 1_500], ['Tue, 01 Sep 2026 12:00:30 GMT', 30_000],
    ['Tue, 01 Sep 2026 11:00:00 GMT', 0], ['soon', null], ['-5', null], ['', null], [undefined, null]
  ]
  for (const [header, ms] of rows) t.equal(parseRetryAfter(header, now), ms, `'${header}'`)
})

t.test('the wait for a retry ends with the caller\'s reason', async (t) => {
  const cancel = new AbortController()
  const server = await startServer(t, answers([503], { 'retry-after': '50' }))
  const client = startClient(t, { sleep, onPause: () => setImmediate(() => cancel.abort(new Error('enough'))) })
  await t.rejects(client.withSignal(cancel.signal).text(server.url), { message: 'enough' })
  t.equal(server.requests.length, 1)
  await sleep(1, new AbortController().signal)
})
