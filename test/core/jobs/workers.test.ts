import { hostname } from 'node:os'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { createSecrets } from '../../../core/access/secrets.ts'
import { databaseNow, storeClockDifference } from '../../../core/database/clock.ts'
import database from '../../../core/database/database.ts'
import { type Host, createHostId } from '../../../core/process/host.ts'
import workers, { type Role } from '../../../core/jobs/workers.ts'
import { keyDigestOf, requireSameKey } from '../../../core/access/host-key.ts'
import { createHostAddresses } from '../../../core/jobs/host-addresses.ts'
import { StartError } from '../../../core/errors.ts'
import { VERSION } from '../../../core/version.ts'
import { migrations } from '../../../plugins/migrations.ts'
import { createTestDatabase } from '../../support.ts'
import { until } from '../../until.ts'

const newHost = (): Host => ({ id: createHostId(), address: null })

interface StartOptions { isSupervised?: boolean, host?: Host, keyDigest?: string | null }

async function start (
  t: Pick<Test, 'teardown'>, url: string, role: Role, { isSupervised = false, host = newHost(), keyDigest = null }: StartOptions = {}
) {
  const app = fastify()
  await app.register(database, { url, poolSize: 2, entities: [], migrations })
  await app.register(workers, { url, role, isSupervised, host, keyDigest })
  t.teardown(() => app.close())
  await app.ready()
  return app
}

t.test('times follow the clock of the database from a second of difference', (t) => {
  const now = Date.now()
  const measure = (aheadMs: number, tookMs = 10) => {
    storeClockDifference({ before: now, database: now + tookMs / 2 - aheadMs, after: now + tookMs })
    return Math.round((Date.now() - databaseNow()) / 1_000) * 1_000
  }
  t.teardown(() => { measure(0) })
  t.equal(measure(300_000), 300_000)
  t.equal(measure(-4_000), -4_000)
  t.equal(measure(90_000, 2_000), -4_000, 'a slow measurement is ignored')
  t.equal(measure(400), 0, 'a small difference is an error of the measurement')
  t.end()
})

t.test('requireScanWorker waits only under a supervisor', async (t) => {
  const url = await createTestDatabase(t)
  const [alone, supervised] = [await start(t, url, 'web'), await start(t, url, 'web', { isSupervised: true })]
  await t.rejects(alone.workers.requireScanWorker(), { code: 'UNAVAILABLE', message: /No scan worker is running/ })
  const found = supervised.workers.requireScanWorker()
  await start(t, url, 'worker')
  await found
  await alone.workers.requireScanWorker()
})

t.test('a host with another secret key than a running host does not start', async (t) => {
  const url = await createTestDatabase(t)
  const [first, second] = [createSecrets('the key of the hosts'), createSecrets('a key of its own')]
  const former = await start(t, url, 'web')
  const app = await start(t, url, 'web', { keyDigest: keyDigestOf(first) })
  await requireSameKey(former.pg, first)
  await t.rejects(requireSameKey(former.pg, second), new StartError(`This host has another secret key than the running hosts of its database (${hostname()}). ` +
    'Set SVC_AUTH_SECRET_KEY to the same key on all hosts. To change the key, stop all hosts first.'))
  await app.close()
  await requireSameKey(former.pg, second)
})

t.test('a process is alive from its start until it closes', async (t) => {
  const url = await createTestDatabase(t)
  const web = await start(t, url, 'web')
  t.equal(await web.workers.isAlive('web'), true)
  t.equal(await web.workers.isAlive('worker'), false)

  const worker = await start(t, url, 'worker')
  t.not(worker.workers.id, web.workers.id)
  t.equal(await web.workers.isAlive('worker'), true)
  t.same((await web.workers.listAlive()).sort(), [web.workers.id, worker.workers.id].sort())

  await worker.close()
  t.equal(await web.workers.isAlive('worker'), false)
  t.same(await web.workers.listAlive(), [web.workers.id])
})

t.test('a hung process does not count, although its session exists', async (t) => {
  const url = await createTestDatabase(t)
  const web = await start(t, url, 'web')
  const worker = await start(t, url, 'worker')
  // A heartbeat between the two statements makes the row fresh again.
  t.ok(await until(async () => {
    await web.pg.query("update workers set seen_at = now() - interval '1 minute' where id = $1", [worker.workers.id])
    return !await web.workers.isAlive('worker')
  }, 'a process that counts as hung'))
})

t.test('a dead process does not count, however fresh its row is', async (t) => {
  const web = await start(t, await createTestDatabase(t), 'web')
  await web.pg.query("insert into workers (id, role) values ('dead', 'worker')")
  t.equal(await web.workers.isAlive('worker'), false)
})

t.test('a host is found by its id until it ends, also one that started just now', async (t) => {
  const url = await createTestDatabase(t)
  const web = await start(t, url, 'web')
  t.equal(await web.workers.findAddress('0'.repeat(20)), undefined)
  const host = { id: createHostId(), address: '10.0.0.5:8081' }
  const other = await start(t, url, 'web', { host })
  t.equal(await web.workers.findAddress(host.id), '10.0.0.5:8081')
  t.equal(await other.workers.findAddress(host.id), '10.0.0.5:8081')
  const silent = { id: createHostId(), address: null }
  const third = await start(t, url, 'worker', { host: silent })
  t.equal(await web.workers.findAddress(silent.id), null, 'a host without an address')
  const { rows: [row] } = await web.pg.query('select host_name, release from workers where host_id = $1', [silent.id])
  t.same(row, { host_name: hostname(), release: VERSION })
  await third.close()
  await other.close()
  // An unknown id loads the addresses again.
  t.equal(await web.workers.findAddress('1'.repeat(20)), undefined)
  t.equal(await web.workers.findAddress(host.id), undefined)
})

t.test('unknown ids of hosts cause few reads, and each waits for a read of its own', async (t) => {
  let reads = 0
  const find = createHostAddresses(async () => {
    reads++
    return new Map([[`host-${reads}`, null]])
  })
  const found = await Promise.all(Array.from({ length: 100 }, () => find('host-1')))
  t.same(new Set(found), new Set([null]))
  t.equal(reads, 1)
  t.equal(await find('host-2'), null)
  t.equal(reads, 2)
})

t.test('the next start deletes rows of processes that ended long ago', async (t) => {
  const url = await createTestDatabase(t)
  const web = await start(t, url, 'web')
  await web.pg.query("insert into workers (id, role, seen_at) values ('old', 'web', now() - interval '2 days')")
  await start(t, url, 'worker')
  t.equal((await web.pg.query("select 1 from workers where id = 'old'")).rowCount, 0)
})

t.test('a duty belongs to one process until that process ends', async (t) => {
  const url = await createTestDatabase(t)
  const [first, second] = [await start(t, url, 'worker'), await start(t, url, 'worker')]
  t.equal(await first.workers.claim('watch'), true)
  t.equal(await second.workers.claim('watch'), false)
  t.equal(await second.workers.claim('sweep'), true, 'another duty is free')
  t.equal(await first.workers.claim('watch'), true)
  await first.close()
  t.equal(await second.workers.claim('watch'), true)
})

t.test('work of one key runs in one process at a time, other work meanwhile', async (t) => {
  const url = await createTestDatabase(t)
  const [first, second] = [await start(t, url, 'web'), await start(t, url, 'web')]
  const order: string[] = []
  const [begun, { promise, resolve }] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow = first.workers.runAlone('a', async () => {
    begun.resolve()
    await promise
    order.push('first')
  })
  await begun.promise
  const waiting = second.workers.runAlone('a', async () => { order.push('second') })
  await second.workers.runAlone('b', async () => { order.push('other') })
  resolve()
  await Promise.all([slow, waiting])
  t.same(order, ['other', 'first', 'second'])
  await t.rejects(first.workers.runAlone('a', async () => { throw new Error('failed') }), { message: 'failed' })
  t.equal(await second.workers.runAlone('a', async () => 'free again'), 'free again')
})
