import { randomUUID } from 'node:crypto'
import { once, EventEmitter } from 'node:events'
import fastify from 'fastify'
import pg from 'pg'
import t from 'tap'
import database from '../../../core/database/database.ts'
import { conflict } from '../../../core/errors.ts'
import { createHostId } from '../../../core/process/host.ts'
import jobs from '../../../core/jobs/jobs.ts'
import rest from '../../../core/jobs/rest.ts'
import workers from '../../../core/jobs/workers.ts'
import { features } from '../../../plugins/index.ts'
import { createTestDatabase } from '../../support.ts'
import { until } from '../../until.ts'
import { LONG_MS, LONG_SECONDS, start, type Define } from './jobs-support.ts'

t.test('a web server sends a request to the scan worker and gets its result', async (t) => {
  const url = await createTestDatabase(t)
  const define = (place: string): Define => (jobs) => {
    jobs.define<{ a: number, b: number }>('sums', {
      concurrency: 1, timeoutSeconds: LONG_SECONDS, run: async ({ a, b }) => ({ sum: a + b, place })
    })
  }
  await start(t, url, true, define('worker'))
  const web = await start(t, url, false, define('web'))
  t.same(await web.request('sums', { a: 1, b: 2 }, LONG_MS), { sum: 3, place: 'worker' })
})

t.test('a time limit for idle sessions does not end those of a process', async (t) => {
  const url = await createTestDatabase(t)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  await client.query(`alter database ${client.escapeIdentifier(new URL(url).pathname.slice(1))} set idle_session_timeout = '200ms'`)
  await start(t, url, true, (jobs) => {
    jobs.define('waits', { concurrency: 1, timeoutSeconds: LONG_SECONDS, run: async () => null })
  })
  const listIdle = async () => (await client.query<{ name: string }>(`select distinct application_name as name from pg_stat_activity
    where datname = current_database() and state = 'idle' and state_change < now() - interval '1 second' and pid <> pg_backend_pid()`)).rows
  await until(async () => {
    const names = (await listIdle()).map(({ name }) => name)
    return names.includes('svc-jobs') && names.includes('svc-worker')
  }, 'both sessions are idle for longer')
})

t.test('a job takes and returns any text that JSON allows', async (t) => {
  const url = await createTestDatabase(t)
  const define: Define = (jobs) => {
    jobs.define<{ texts: string[] }>('echoes', { concurrency: 1, timeoutSeconds: LONG_SECONDS, run: async ({ texts }) => ({ texts, reason: 'cut 🎮'.slice(0, -1) }) })
  }
  await start(t, url, true, define)
  const web = await start(t, url, false, define)
  const texts = ['half an emoji: \ud83d', 'NUL: \0', 'whole: 🎮']
  t.same(await web.request('echoes', { texts }, LONG_MS), { texts: ['half an emoji: \ufffd', 'NUL: ', 'whole: 🎮'], reason: 'cut \ufffd' })
})

t.test('a request gets the text of an expected error, and the id of a job with any other', async (t) => {
  const url = await createTestDatabase(t)
  const failing = (err: Error) => ({ concurrency: 1, timeoutSeconds: LONG_SECONDS, run: async () => { throw err } })
  const define: Define = (jobs) => {
    jobs.define('refuses', failing(conflict('The disk is full')))
    jobs.define('fails', failing(Object.assign(new Error("ENOENT: no such file, open '/secret'"), { code: 'ENOENT' })))
  }
  await start(t, url, true, define)
  const web = await start(t, url, false, define)
  await t.rejects(web.request('refuses', {}, LONG_MS), { code: 'UNAVAILABLE', message: 'The disk is full' })
  await t.rejects(web.request('fails', {}, LONG_MS), {
    code: 'UNAVAILABLE', message: /^The scan worker failed; its log says why \(job [-0-9a-f]{36}\)$/
  })
})

t.test('a process is busy while it runs a job', async (t) => {
  const url = await createTestDatabase(t)
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<null>()]
  const worker = await start(t, url, true, (jobs) => {
    jobs.define('waits', {
      concurrency: 1,
      timeoutSeconds: LONG_SECONDS,
      async run () {
        begun.resolve()
        return await gate.promise
      }
    })
  })
  t.equal(worker.isBusy(), false)
  await worker.send('waits', {})
  await begun.promise
  t.equal(worker.isBusy(), true)
  gate.resolve(null)
  await until(async () => !worker.isBusy(), 'the end of the job')
})

t.test('without a worker a request times out and is canceled, but a job waits', async (t) => {
  const url = await createTestDatabase(t)
  const done = new EventEmitter()
  const define: Define = (jobs) => {
    jobs.define('waits', {
      concurrency: 1, timeoutSeconds: LONG_SECONDS, run: async (input) => { done.emit('run', input); return null }
    })
  }
  const web = await start(t, url, false, define)
  await t.rejects(web.request('waits', { from: 'request' }, 100), { message: /No scan worker answered in time\. Check/ })
  await web.send('waits', { from: 'send' })
  const ran = once(done, 'run')
  await start(t, url, true, define)
  t.same(await ran, [{ from: 'send' }], 'it was asked for later, and one job runs at a time')
})

t.test('other processes see that a worker runs a job', async (t) => {
  const url = await createTestDatabase(t)
  const gate = Promise.withResolvers<null>()
  const define: Define = (jobs) => {
    jobs.define('long', { concurrency: 1, timeoutSeconds: LONG_SECONDS, run: async () => await gate.promise })
  }
  await start(t, url, true, define)
  const web = await start(t, url, false, define)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  const countHeld = async () => (await client.query(`select 1 from pg_locks where locktype = 'advisory' and classid = 736415
    and database = (select oid from pg_database where datname = current_database())`)).rowCount
  const answer = web.request('long', {}, LONG_MS)
  await until(async () => await countHeld() === 1, 'the lock of the job')
  gate.resolve(null)
  t.equal(await answer, null)
  t.equal(await countHeld(), 0)
})

t.test('a group runs one job at a time and does not delay other groups', async (t) => {
  const url = await createTestDatabase(t)
  const begun: string[] = []
  const gate = Promise.withResolvers<null>()
  const define: Define = (jobs) => {
    jobs.define<{ name: string }>('grouped', {
      concurrency: 3,
      timeoutSeconds: LONG_SECONDS,
      async run ({ name }) {
        begun.push(name)
        return name.startsWith('slow') ? await gate.promise : null
      }
    })
  }
  await start(t, url, true, define)
  const web = await start(t, url, false, define)
  const slow = ['slow 1', 'slow 2', 'slow 3'].map((name) => web.request('grouped', { name }, LONG_MS, { group: 'a' }))
  await web.request('grouped', { name: 'other' }, LONG_MS, { group: 'b' })
  await web.request('grouped', { name: 'none' }, LONG_MS)
  await until(() => begun.some((name) => name.startsWith('slow')), 'a job of the slow group')
  t.equal(begun.filter((name) => name.startsWith('slow')).length, 1)
  gate.resolve(null)
  await Promise.all(slow)
  t.equal(begun.length, 5)
})

t.test('an equal request joins a running shared job; a later one runs anew', async (t) => {
  const url = await createTestDatabase(t)
  const begun: string[] = []
  const gate = Promise.withResolvers<object>()
  const define: Define = (jobs) => {
    jobs.define<{ by: string }>('shared', {
      concurrency: 3,
      timeoutSeconds: LONG_SECONDS,
      isShared: true,
      async run ({ by }) {
        begun.push(by)
        return by === 'other' ? {} : await gate.promise
      }
    })
  }
  await start(t, url, true, define)
  const [one, two] = [await start(t, url, false, define), await start(t, url, false, define)]
  const first = one.request('shared', { by: 'first' }, LONG_MS, { key: 'a' })
  const id = await one.send('shared', { by: 'first' }, { key: 'a' })
  await one.request('shared', { by: 'other' }, LONG_MS, { key: 'b' })
  await until(() => begun.includes('first'), 'the start of the first job')
  const looks = t.capture(two.app.workers, 'isLocked', two.app.workers.isLocked)
  const second = two.request('shared', { by: 'second' }, LONG_MS, { key: 'a' })
  await until(() => looks().some(({ args }) => args[0] === id), 'a look of the second request at the running job')
  t.equal(await two.send('shared', { by: 'third' }, { key: 'a' }), id)
  await t.rejects(two.request('shared', { by: 'hasty' }, 0, { key: 'a' }), { message: /in time/ }, 'who leaves early ends it for nobody')
  gate.resolve({ answer: 42 })
  t.same(await Promise.all([first, second]), [{ answer: 42 }, { answer: 42 }])
  t.same(begun.toSorted(), ['first', 'other'])
  await two.request('shared', { by: 'later' }, LONG_MS, { key: 'a' })
  t.same(begun.toSorted(), ['first', 'later', 'other'])
})

t.test('jobs run by priority, and a known id replaces the former job', async (t) => {
  const url = await createTestDatabase(t)
  const order: unknown[] = []
  const done = new EventEmitter()
  const define: Define = (jobs) => {
    jobs.define<{ name: string }>('ordered', {
      concurrency: 1,
      timeoutSeconds: LONG_SECONDS,
      async run ({ name }) {
        order.push(name)
        if (name === 'last') done.emit('last')
        return null
      }
    })
  }
  const web = await start(t, url, false, define)
  const id = randomUUID()
  await web.send('ordered', { name: 'last' }, { priority: -1 })
  await web.send('ordered', { name: 'former' }, { id })
  await web.send('ordered', { name: 'plain' })
  await web.send('ordered', { name: 'urgent' }, { priority: 5 })
  t.equal(await web.send('ordered', { name: 'latter' }, { id }), id)
  const last = once(done, 'last')
  await start(t, url, true, define)
  await last
  t.same(order, ['urgent', 'plain', 'latter', 'last'])
})

t.test('a queue runs as many jobs at once as its concurrency', async (t) => {
  const url = await createTestDatabase(t)
  let running = 0
  let most = 0
  const gate = Promise.withResolvers<null>()
  const define: Define = (jobs) => {
    jobs.define('parallel', {
      concurrency: 3,
      timeoutSeconds: LONG_SECONDS,
      async run () {
        most = Math.max(most, ++running)
        if (running === 3) gate.resolve(null)
        return await gate.promise
      }
    })
  }
  await start(t, url, true, define)
  const web = await start(t, url, false, define)
  await Promise.all([1, 2, 3].map(() => web.request('parallel', {}, LONG_MS)))
  t.equal(most, 3)
})

t.test('a queue cannot be defined twice', async (t) => {
  const url = await createTestDatabase(t)
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(database, { url, poolSize: 2, ...await features.loadTables() })
  await app.register(workers, { url, role: 'web', isSupervised: false, host: { id: createHostId(), address: null } })
  await app.register(rest, { isWoken: false })
  await app.register(jobs, { url, runsJobs: false })
  const definition = { concurrency: 1, timeoutSeconds: 1, run: async () => null }
  app.jobs.define('twice', definition)
  t.throws(() => { app.jobs.define('twice', definition) }, { message: /'twice' is defined twice/ })
})

t.test('a schedule with H is stored with one time, the same at each start', async (t) => {
  const url = await createTestDatabase(t)
  const define: Define = (jobs) => { jobs.define('planned', { concurrency: 1, timeoutSeconds: LONG_SECONDS, run: async () => null }) }
  const jobs = await start(t, url, false, define)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  const lines: string[] = []
  for (let starts = 0; starts < 2; starts++) {
    await jobs.schedule('planned', 'daily', 'H H(1-5) * * *', {})
    const { rows } = await client.query<{ cron: string }>("select cron from pgboss.schedule where name = 'planned'")
    lines.push(...rows.map(({ cron }) => cron))
  }
  t.match(lines, [/^\d+ [1-5] \* \* \*$/, lines[0]])
})
