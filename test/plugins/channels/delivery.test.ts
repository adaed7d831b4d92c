import type { ServerResponse } from 'node:http'
import t from 'tap'
import { until } from '../../until.ts'
import { buildTestApp } from '../../support.ts'
import { CRASHED } from '../../../plugins/channels/delivery/attempt-delivery.ts'
import { toResults } from '../../../plugins/channels/delivery/delivery-results.ts'
import type { Failure } from '../../../plugins/channels/host/channel-failures.ts'
import { createChannelTools, packages, startReceiver } from './support.ts'
import { told } from './delivery-support.ts'

const testApp = await buildTestApp(t, { worker: true, packages: packages() })
const { app, worker } = testApp
const tools = createChannelTools(testApp)
const { call, create, send, waitFor, hurry } = tools
worker?.channels.onDisabled(async (channel) => { told.push(channel) })

/** Returns when the next try of a channel is due, and the number of tries before. */
const nextOf = async (id: number) => (await app.pg.query<{ due_at: Date, attempts: number }>(
  'select due_at, attempts from channel_deliveries where channel_id = $1 order by id', [id])).rows[0]

/** True if the delay of a try is this long, decided between `sinceMs` and now. */
function isPutOff (dueAt: Date, seconds: number, sinceMs: number): boolean {
  const decidedMs = dueAt.getTime() - seconds * 1_000
  return decidedMs >= sinceMs && decidedMs <= Date.now()
}
/** Simulates that every waiting delivery failed three times. */
async function lastTry (id: number) {
  await app.pg.query('update channel_deliveries set attempts = 3 where channel_id = $1', [id])
  await hurry(id)
}
const removeAll = () => app.pg.query('delete from notification_channels')

t.test('an enabled and confirmed channel gets notifications of its level and topics', async (t) => {
  t.teardown(removeAll)
  const receiver = await startReceiver(t)
  const add = async (path: string, more: object) => (await create({ type: 'unpaced', url: `${receiver.url}/${path}`, ...more })).id
  const ids = [
    await add('all', {}), await add('warnings', { min_level: 'warning' }), await add('errors', { min_level: 'error' }),
    await add('scans', { topics: ['scans'] }), await add('none', { topics: [] }), await add('off', {}), await add('unconfirmed', {})
  ]
  await call('PATCH', `/${ids[5]}`, { enabled: false })
  await app.pg.query('update notification_channels set confirmed = false where id = $1', [ids[6]])
  await send('admin', [{ level: 'success' }, { level: 'warning' }, { level: 'error' }])
  await send('admin', [{ level: 'info' }], 'scans')
  await until(async () => receiver.arrivals.length === 4 + 2 + 1 + 1, 'everything')
  const levelsAt = (path: string) => receiver.arrivals.filter((one) => one.path === path).map(({ body }) => body.level)
  t.same(levelsAt('/all'), ['success', 'warning', 'error', 'info'])
  t.same(levelsAt('/warnings'), ['warning', 'error'])
  t.same(levelsAt('/errors'), ['error'])
  t.same(levelsAt('/scans'), ['info'])
  t.match(await waitFor(ids[0] ?? 0, 'the last word', (row, waiting) => waiting === 0 && row.last_delivered_at !== null),
    { last_error: null, consecutive_failures: 0 })
})

t.test('deliveries keep their order, and a hanging destination blocks no other', async (t) => {
  t.teardown(removeAll)
  const hung: ServerResponse[] = []
  let atOnce = 0
  let atOnceMax = 0
  const receiver = await startReceiver(t, ({ path }, response) => {
    if (path === '/dead') {
      hung.push(response)
      return
    }
    atOnceMax = Math.max(atOnceMax, ++atOnce)
    setImmediate(() => {
      atOnce--
      response.writeHead(204).end()
    })
  })
  const dead = await create({ type: 'unpaced', url: `${receiver.url}/dead` })
  const { id } = await create({ type: 'unpaced', url: `${receiver.url}/alive` })
  await send('admin', Array.from({ length: 50 }, () => ({})))
  await waitFor(id, 'fifty', (_row, waiting) => waiting === 0)
  t.same(receiver.arrivals.filter(({ path }) => path === '/alive').map(({ body }) => body.id), Array.from({ length: 50 }, (_none, index) => index + 1))
  t.equal(atOnceMax, 1, 'a channel has one delivery under way at most')
  t.equal(hung.length, 1)
  t.equal(await tools.count(dead.id), 50)
  hung[0]?.writeHead(500).end()
  await until(async () => (await nextOf(dead.id))?.attempts === 1, 'the failure')
})

t.test('a failure is retried after 30 s, 2 and 10 minutes with the same id, then counts', async (t) => {
  t.teardown(removeAll)
  let status = 500
  let firstId: unknown
  const counted = Promise.withResolvers<void>()
  const receiver = await startReceiver(t, async ({ headers }, response) => {
    firstId ??= headers['webhook-id']
    if (headers['webhook-id'] === firstId) {
      response.writeHead(status).end('overloaded')
    } else {
      await counted.promise
      response.writeHead(204).end()
    }
  })
  const { id } = await create({ type: 'webhook', url: `${receiver.url}/x`, secret: 'topsecret' })
  let sinceMs = Date.now()
  await send('admin', [{}, {}])
  for (const [attempts, seconds] of [[1, 30], [2, 120], [3, 600]] as const) {
    const next = await until(async () => {
      const row = await nextOf(id)
      return row?.attempts === attempts && row
    }, 'the next try')
    t.ok(isPutOff(next.due_at, seconds, sinceMs), `${next.due_at.toISOString()}, ${seconds} s`)
    t.match(await tools.readRow(id), { last_error: null, consecutive_failures: 0 })
    if (attempts === 3) status = 503
    sinceMs = Date.now()
    await hurry(id)
  }
  const row = await waitFor(id, 'the count', ({ consecutive_failures: count }) => count === 1)
  t.match(row, { last_error: /answered 503 "overloaded"/, last_delivered_at: null, enabled: true })
  counted.resolve()
  t.match(await waitFor(id, 'the second one', (_row, waiting) => waiting === 0),
    { last_error: null, consecutive_failures: 0, last_delivered_at: Date })
  const ids = receiver.arrivals.slice(0, 4).map(({ headers }) => headers['webhook-id'])
  t.equal(new Set(ids).size, 1)
  t.equal(new Set(receiver.arrivals.map(({ headers }) => headers['webhook-id'])).size, 2)
})

t.test('a destination that asks for a pause gets it', async (t) => {
  t.teardown(removeAll)
  const receiver = await startReceiver(t, (_arrival, response) => response.writeHead(429, { 'retry-after': '300' }).end())
  const { id } = await create({ type: 'webhook', url: receiver.url })
  const sinceMs = Date.now()
  await send('admin', [{}])
  const next = await until(async () => {
    const row = await nextOf(id)
    return row?.attempts === 1 && row
  }, 'the next try')
  t.ok(isPutOff(next.due_at, 300, sinceMs))
})

t.test('a delivery whose process died is retried at once, but not forever', async (t) => {
  t.teardown(removeAll)
  const receiver = await startReceiver(t, (_arrival, response) => response.writeHead(500).end())
  const { id } = await create({ type: 'unpaced', url: receiver.url })
  await send('admin', [{}])
  const failed = (attempts: number) => until(async () => {
    const row = await nextOf(id)
    return row?.attempts === attempts && row
  }, `failure ${attempts}`)
  /** Simulates a process that started the delivery after this many failures and then died. */
  async function die (attempts: number) {
    await app.pg.query("update channel_deliveries set worker_id = 'another', attempts = $2 where channel_id = $1", [id, attempts])
    await hurry(id)
  }
  await failed(1)
  await die(1)
  await failed(2)
  t.equal(receiver.arrivals.length, 2, 'one that ended well costs nothing')
  t.teardown(() => app.pg.query("delete from workers where id = 'another'"))
  await app.pg.query("insert into workers (id, role) values ('another', 'worker')")
  await die(2)
  await failed(3)
  t.equal(receiver.arrivals.length, 3, 'the first death either')
  const sinceMs = Date.now()
  await die(1)
  const next = await failed(2)
  t.ok(isPutOff(next.due_at, 120, sinceMs), 'the second one is a failure')
  t.equal(receiver.arrivals.length, 3, 'without another try')
  await hurry(id)
  await failed(3)
  t.equal(receiver.arrivals.length, 4, 'the next try is made')
  await die(3)
  const row = await waitFor(id, 'the count', ({ consecutive_failures: count }) => count === 1)
  t.match(row, { last_error: /The server crashed more than once/ })
  t.equal(await tools.count(id), 0)
  t.equal(new Set(receiver.arrivals.map(({ headers }) => headers['webhook-id'])).size, 1)
})

t.test('a pause lasts an hour at most, and retries after crashes are spaced', async (t) => {
  const delaysOf = (failure: Failure) => {
    const finished = { delivery: { id: 1, attempts: 0 }, failure }
    return toResults([finished, finished]).retries.map(({ delay_ms: delay }) => delay)
  }
  const pause = { message: '', is_invalid: false, is_refused: true, retry_after_ms: 86_400_000 }
  t.same(delaysOf(pause), [3_600_000, 3_600_000])
  t.same(delaysOf(CRASHED), [30_000, 31_000])
})

t.test('a disabled account gets its waiting deliveries when it is enabled again', async (t) => {
  t.teardown(removeAll)
  let status = 500
  const receiver = await startReceiver(t, (_arrival, response) => response.writeHead(status).end())
  await testApp.createUser('carol')
  await app.pg.query("update users set role = 'admin' where username = 'carol'")
  const { id } = await create({ type: 'unpaced', url: `${receiver.url}/carol` })
  await app.pg.query(`update notification_channels set user_id = (select id from users where username = 'carol')
    where id = $1`, [id])
  await send('carol', [{}])
  await until(async () => (await nextOf(id))?.attempts === 1, 'the failure')
  status = 204
  await app.pg.query("update users set enabled = false where username = 'carol'")
  await create({ type: 'unpaced', url: `${receiver.url}/admin` })
  await hurry(id)
  await send('admin', [{}])
  await until(async () => receiver.arrivals.length === 2, "the administrator's")
  const { rows } = await app.pg.query('select attempts, worker_id from channel_deliveries where channel_id = $1', [id])
  t.same(rows, [{ attempts: 1, worker_id: null }], 'nobody began another try')
  await app.pg.query("update users set enabled = true where username = 'carol'")
  await hurry(id)
  await until(async () => receiver.arrivals.length === 3, 'the delivery')
  t.same(receiver.arrivals.map(({ path }) => path), ['/carol', '/admin', '/carol'])
})

t.test('a retry delay that is not a number is ignored', async (t) => {
  t.teardown(removeAll)
  const receiver = await startReceiver(t, ({ path }, response) => response.writeHead(path === '/nan' ? 429 : 204).end())
  const nan = await create({ type: 'unpaced', url: `${receiver.url}/nan` })
  const { id } = await create({ type: 'unpaced', url: `${receiver.url}/fine` })
  const sinceMs = Date.now()
  await send('admin', [{}])
  await waitFor(id, 'the other', (_row, waiting) => waiting === 0)
  const next = await until(async () => {
    const row = await nextOf(nan.id)
    return row?.attempts === 1 && row
  }, 'the next try')
  t.ok(isPutOff(next.due_at, 30, sinceMs))
})

t.test('a change of settings starts the waiting deliveries of a channel at once', async (t) => {
  t.teardown(removeAll)
  const receiver = await startReceiver(t, ({ path }, response) => response.writeHead(path === '/wrong' ? 500 : 204).end())
  const { id } = await create({ type: 'unpaced', url: `${receiver.url}/wrong` })
  await send('admin', [{}, {}])
  await until(async () => (await nextOf(id))?.attempts === 1, 'a failed try')
  await app.pg.query("update channel_deliveries set due_at = now() + interval '10 minutes' where channel_id = $1 and attempts = 1", [id])
  t.equal((await call('PATCH', `/${id}`, { url: `${receiver.url}/right` })).statusCode, 200)
  await waitFor(id, 'both', (_row, waiting) => waiting === 0)
  t.same(receiver.arrivals.map(({ path }) => path), ['/wrong', '/right', '/right'])
})

t.test('a delivery by a plugin that is not installed fails with the remedy', async (t) => {
  t.teardown(removeAll)
  const receiver = await startReceiver(t)
  const { id } = await create({ type: 'unpaced', url: receiver.url })
  await app.pg.query("update notification_channels set type = 'gone' where id = $1", [id])
  await send('admin', [{}])
  await until(async () => (await nextOf(id))?.attempts === 1, 'a failed try')
  await lastTry(id)
  const row = await waitFor(id, 'a failure', ({ last_error: error }) => error !== null)
  t.match(row.last_error, /^The channel plugin 'gone' is not installed; .* svc plugins add .*, or delete the channel$/)
  t.same(receiver.arrivals, [])
})

t.test('a delivery whose result cannot be stored blocks only its own channel', async (t) => {
  t.teardown(removeAll)
  const receiver = await startReceiver(t)
  const bad = await create({ type: 'unpaced', url: `${receiver.url}/bad`, name: 'bad' })
  const { id } = await create({ type: 'unpaced', url: `${receiver.url}/fine` })
  await app.pg.query(`create function refuse () returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before update of last_delivered_at on notification_channels for each row
    when (old.name = 'bad') execute function refuse()`)
  await send('admin', Array.from({ length: 5 }, () => ({})))
  await waitFor(id, 'the other', (_row, waiting) => waiting === 0)
  t.equal(receiver.arrivals.filter(({ path }) => path === '/bad').length, 1)
  await app.pg.query('drop trigger refuse on notification_channels')
  await hurry(bad.id)
  await waitFor(bad.id, 'the rest', (_row, waiting) => waiting === 0)
  t.equal(receiver.arrivals.length, 10, 'none came twice')
})

t.test('one user has few concurrent deliveries, which leaves room for others', async (t) => {
  t.teardown(removeAll)
  await testApp.createUser('bob')
  const hung: ServerResponse[] = []
  const receiver = await startReceiver(t, ({ path }, response) => {
    if (path === '/bob') response.writeHead(204).end()
    else hung.push(response)
  })
  for (let channel = 0; channel < 6; channel++) await create({ type: 'unpaced', url: `${receiver.url}/${channel}` })
  const bobs = await create({ type: 'unpaced', url: `${receiver.url}/bob` })
  await app.pg.query(`update notification_channels set user_id = u.id from users u where u.username = 'bob'
    and notification_channels.id = $1`, [bobs.id])
  await app.pg.query("update users set role = 'admin' where username = 'bob'")
  await send('admin', [{}])
  await until(async () => hung.length === 4, 'four')
  await send('bob', [{}])
  await waitFor(bobs.id, 'the other user', (_row, waiting) => waiting === 0)
  t.equal(hung.length, 4)
  hung.forEach((response) => response.writeHead(204).end())
  await until(async () => hung.length === 6, 'the others')
  hung.slice(4).forEach((response) => response.writeHead(204).end())
  await until(async () => (await app.pg.query('select 1 from channel_deliveries')).rowCount === 0, 'all')
})

t.test('ten failures in a row disable a channel with one event, and enabling resets it', async (t) => {
  t.teardown(removeAll)
  const receiver = await startReceiver(t, (_arrival, response) => response.writeHead(410).end('gone'))
  const { id } = await create({ type: 'webhook', url: receiver.url, name: 'Old' })
  await send('admin', Array.from({ length: 15 }, () => ({})))
  await until(async () => (await nextOf(id))?.attempts === 1, 'a failure that is tried again')
  await lastTry(id)
  const row = await waitFor(id, 'the end', ({ enabled }) => !enabled)
  t.match(row, { consecutive_failures: 10, last_error: /answered 410 "gone"/ })
  t.equal(await tools.count(id), 0, 'what was left is dropped')
  t.equal(receiver.arrivals.length, 11)
  await until(async () => told.length > 0, 'word of it')
  t.match(told, [{ id, name: 'Old', error: /answered 410/ }])
  await send('admin', [{}])
  t.equal(await tools.count(id), 0)
  t.match((await call('PATCH', `/${id}`, { enabled: true })).json(), { enabled: true, consecutive_failures: 0 })
})

t.test("deliveries beyond a channel's rate limit are folded into one with the newest", async (t) => {
  t.teardown(removeAll)
  const receiver = await startReceiver(t)
  const { id } = await create({ type: 'webhook', url: receiver.url })
  await send('admin', [{ title: 'First' }])
  await waitFor(id, 'the first', (_row, waiting) => waiting === 0)
  await send('admin', Array.from({ length: 200 }, (_none, index) => ({ level: index === 7 ? 'error' as const : 'info' as const })))
  await waitFor(id, 'the rest', (_row, waiting) => waiting === 0)
  t.equal(receiver.arrivals.length, 2)
  const { body } = receiver.arrivals[1] ?? { body: null }
  t.match(body, { kind: 'custom', level: 'error', title: '200 notifications', data: { count: 200 }, id: 200, url: null })
  t.match(body?.body, /^• Title 200: Body 200\n(.*\n){9}… and 190 earlier$/)

  const sinceMs = Date.now()
  await app.pg.query(`update notification_channels set recent_at = array_fill(now() - interval '20 seconds', array[60])
    where id = $1`, [id])
  await send('admin', [{}, {}])
  const next = await until(async () => {
    const row = await nextOf(id)
    return row !== undefined && row.due_at.getTime() > sinceMs + 30_000 && row
  }, 'a pause')
  t.ok(isPutOff(next.due_at, 40, sinceMs))
  await app.pg.query('update notification_channels set recent_at = recent_at[1:59] where id = $1', [id])
  await hurry(id)
  await waitFor(id, 'the next minute', (_row, waiting) => waiting === 0)
  t.match(receiver.arrivals.slice(2), [{ body: { title: '2 notifications' } }], 'both as one')
  await send('admin', [{}])
  await until(async () => {
    const row = await nextOf(id)
    return row !== undefined && row.due_at.getTime() > sinceMs + 30_000
  }, 'a pause after it')
})

t.test('a delivery with a first try keeps its text', async (t) => {
  t.teardown(removeAll)
  let status = 500
  const receiver = await startReceiver(t, (_arrival, response) => response.writeHead(status).end())
  const { id } = await create({ type: 'webhook', url: receiver.url })
  await send('admin', [{ title: 'First' }])
  await until(async () => (await nextOf(id))?.attempts === 1, 'the failure')
  await send('admin', Array.from({ length: 100 }, () => ({})))
  status = 204
  await hurry(id)
  await waitFor(id, 'everything', (_row, waiting) => waiting === 0)
  t.same(receiver.arrivals.map(({ body }) => body.title), ['First', 'First', '100 notifications'])
})

t.test('long text is cut to the limit of the destination, and errors are cleaned', async (t) => {
  t.teardown(removeAll)
  const receiver = await startReceiver(t, (_arrival, response) => response.writeHead(400).end(`no\u0000\n\n${'x'.repeat(2_000)}`))
  const { id } = await create({ type: 'unpaced', url: receiver.url, token: 'topsecret' })
  await send('admin', [{ title: '🎮'.repeat(30) }])
  await until(async () => (await nextOf(id))?.attempts === 1, 'the failure')
  await lastTry(id)
  const { last_error: error } = await waitFor(id, 'the refusal', (row) => row.consecutive_failures === 1)
  t.equal(receiver.arrivals[0]?.body.title, `${'🎮'.repeat(19)}…`)
  t.match(error, /^refused: no x+$/)
  t.equal(error?.length, 500)
})

t.test('an error masks the secrets that it contains', async (t) => {
  t.teardown(removeAll)
  const receiver = await startReceiver(t, (_arrival, response) => response.writeHead(500).end('nothing'))
  const { id } = await create({ type: 'unpaced', url: receiver.url, token: 'topsecret' })
  t.match((await call('POST', `/${id}/test`)).json(), { error: 'down, said nothing to ***' })
})
