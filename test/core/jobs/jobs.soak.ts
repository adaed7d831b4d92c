import { randomUUID } from 'node:crypto'
import pg from 'pg'
import t from 'tap'
import type { Jobs } from '../../../core/jobs/jobs.ts'
import { createTestDatabase } from '../../support.ts'
import { until } from '../../until.ts'
import { LONG_MS, LONG_SECONDS, start, type Define } from './jobs-support.ts'

const ROUNDS = 600
/** Less than the time between two looks for jobs that nothing announced. */
const SOON_MS = 20_000

t.test('two processes that send one job id at once both have it queued', async (t) => {
  const url = await createTestDatabase(t)
  const define = (jobs: Jobs) => { jobs.define('short', { concurrency: 1, timeoutSeconds: LONG_SECONDS, run: async () => null }) }
  const [worker, web] = [await start(t, url, true, define), await start(t, url, false, define)]
  for (let round = 0; round < 30; round++) {
    const id = randomUUID()
    t.same(await Promise.all([worker, web].map((jobs) => jobs.send('short', {}, { id }))), [id, id])
  }
})

t.test('a request whose worker was killed fails within seconds', async (t) => {
  const url = await createTestDatabase(t)
  const web = await start(t, url, false, (jobs) => {
    jobs.define('lost', { concurrency: 1, timeoutSeconds: LONG_SECONDS, run: async () => null })
  })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  const begun = performance.now()
  const answer = t.rejects(web.request('lost', {}, LONG_MS), { code: 'UNAVAILABLE', message: /The scan worker ended before it answered/ })
  // The state that a killed worker leaves: an active job, and no lock of its session.
  await until(async () => (await client.query(
    "update pgboss.job set state = 'active', started_on = now() where name = 'lost' and state = 'created'")).rowCount === 1, 'the job')
  await answer
  t.ok(performance.now() - begun < LONG_MS / 2)
})

t.test('a request fails within seconds if no scan worker runs, but waits for a slow one', async (t) => {
  const url = await createTestDatabase(t)
  const gate = Promise.withResolvers<null>()
  const define: Define = (jobs) => {
    jobs.define('slow', { concurrency: 1, timeoutSeconds: LONG_SECONDS, run: async () => await gate.promise })
  }
  const web = await start(t, url, false, define)
  const begun = performance.now()
  await t.rejects(web.request('slow', {}, LONG_MS), { code: 'UNAVAILABLE', message: /^No scan worker is running\. Start one/ })
  const refusedMs = performance.now() - begun
  t.ok(refusedMs < LONG_MS / 2)
  t.equal((await web.app.pg.query("select from pgboss.job where name = 'slow' and state <> 'cancelled'")).rowCount, 0)
  await start(t, url, true, define)
  const answers = Promise.all([1, 2].map(() => web.request('slow', {}, LONG_MS)))
  const asked = performance.now()
  await until(() => performance.now() - asked > refusedMs + 2_000, 'more time than without a worker')
  gate.resolve(null)
  t.same(await answers, [null, null], 'the second job waits for the first one')
})

t.test('fast jobs of one group that are sent at once all run soon', async (t) => {
  const url = await createTestDatabase(t)
  const define: Define = (jobs) => {
    jobs.define('fast', { concurrency: 4, timeoutSeconds: LONG_SECONDS, run: async () => null })
  }
  await start(t, url, true, define)
  const web = await start(t, url, false, define)
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all([1, 2, 3, 4].map(() => web.request('fast', {}, SOON_MS, { group: 'a' })))
  }
})
