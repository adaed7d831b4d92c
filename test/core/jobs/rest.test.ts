import fastify from 'fastify'
import t from 'tap'
import { databaseNow } from '../../../core/database/clock.ts'
import { withSession } from '../../../core/database/session.ts'
import upkeep from '../../../core/jobs/upkeep.ts'
import { Guard } from '../../../core/supervisor/guard.ts'
import { watchIdle } from '../../../core/supervisor/idle-watch.ts'
import type { ProcessMessage } from '../../../core/supervisor/messages.ts'
import { createTestDatabase } from '../../support.ts'
import { until } from '../../until.ts'
import { type Define, LONG_MS, LONG_SECONDS, start } from './jobs-support.ts'

const QUEUE = 'counts'
const HOUR_MS = 3_600_000
const define: Define = (jobs) => {
  jobs.define(QUEUE, { concurrency: 1, timeoutSeconds: LONG_SECONDS, run: async () => ({ done: true }) })
}

/** Collects the messages to the supervisor. */
function createReports () {
  const messages: ProcessMessage[] = []
  return {
    messages,
    report: async (message: ProcessMessage) => { messages.push(message) },
    wait: (type: ProcessMessage['type']) => until(() => messages.find((one) => one.type === type), `the message ${type}`)
  }
}

t.test('a job that is queued during the rest wakes the worker, whose start it waits for', async (t) => {
  const url = await createTestDatabase(t)
  const first = await start(t, url, true, define)
  const web = await start(t, url, false, define)
  await first.close()
  t.equal(await web.app.workers.isAlive('worker'), false)
  const { messages, report, wait } = createReports()
  const guard = new Guard({ app: web.app, report })
  t.teardown(() => { guard.stop() })
  guard.start(null)
  await wait('guarding')
  t.equal(await web.app.workers.isAlive('worker'), true, 'a resting worker counts as alive')
  // The limit is shorter than the start of the worker.
  const answer = web.request(QUEUE, {}, 1)
  t.match(await wait('wake'), { reason: 'jobs' })
  await start(t, url, true, define)
  t.same(await answer, { done: true })
  t.equal(messages.filter(({ type }) => type === 'wake').length, 1)
  guard.stop()
  await until(async () => !await web.app.workers.isResting(), 'the end of the rest')
})

t.test('a rest begins only with its lock, however often the worker asks', async (t) => {
  const url = await createTestDatabase(t)
  const web = await start(t, url, false, define)
  const { messages, report } = createReports()
  const guard = new Guard({ app: web.app, report })
  t.teardown(() => { guard.stop() })
  const countRests = () => messages.filter(({ type }) => type === 'guarding').length
  guard.start(null)
  await until(() => countRests() === 1, 'the first rest')
  guard.stop()
  await withSession({ connectionString: url }, async (other) => {
    await other.query('select pg_advisory_lock(1)')
    // The session takes the lock of the rest after this one.
    const waiting = web.app.workers.session.query('select pg_advisory_lock(1)')
    guard.start(null)
    guard.start(null)
    for (let round = 0; round < 5; round++) await web.app.rest.findWork()
    t.equal(countRests(), 1)
    await other.query('select pg_advisory_unlock(1)')
    await waiting
  })
  await until(() => countRests() > 1, 'the second rest')
})

t.test('work that was there before the rest, and a schedule that is due, prevent it', async (t) => {
  const url = await createTestDatabase(t)
  const first = await start(t, url, true, define)
  const web = await start(t, url, false, define)
  await first.close()
  const due = createReports()
  const guard = new Guard({ app: web.app, report: due.report })
  t.teardown(() => { guard.stop() })
  guard.start(databaseNow() + 1_000)
  t.match(await due.wait('wake'), { reason: 'schedules' })
  guard.stop()
  await web.send(QUEUE, {})
  const waiting = createReports()
  const next = new Guard({ app: web.app, report: waiting.report })
  t.teardown(() => { next.stop() })
  next.start(null)
  t.match(await waiting.wait('wake'), { reason: 'jobs' })
  t.notOk([...due.messages, ...waiting.messages].some(({ type }) => type === 'guarding'))
})

t.test('an idle worker asks to rest until the next schedule', async (t) => {
  const url = await createTestDatabase(t)
  const worker = await start(t, url, true, define)
  const then = new Date(databaseNow() + 2 * HOUR_MS)
  await worker.schedule(QUEUE, '', `${then.getUTCMinutes()} ${then.getUTCHours()} * * *`, {})
  const { report, wait } = createReports()
  t.teardown(watchIdle({ app: worker.app, restMs: 20, report }))
  t.match(await wait('idle'), { wake_at: then.setUTCSeconds(0, 0) })
})

t.test('a worker does not ask to rest while a job runs or a schedule is due', async (t) => {
  const url = await createTestDatabase(t)
  const gate = Promise.withResolvers<null>()
  const worker = await start(t, url, true, (jobs) => {
    jobs.define(QUEUE, { concurrency: 1, timeoutSeconds: LONG_SECONDS, run: () => gate.promise })
  })
  await worker.send(QUEUE, {})
  await until(() => worker.isBusy(), 'a running job')
  t.equal(await worker.app.rest.findWork(), 'jobs')
  gate.resolve(null)
  await until(async () => await worker.app.rest.findWork() === null, 'the end of the job')
  // A schedule that was due a moment ago may not be sent yet.
  await worker.schedule(QUEUE, '', '* * * * *', {})
  const before = databaseNow()
  const next = await worker.app.rest.findNext()
  t.ok(next !== null && next <= databaseNow() && next > before - LONG_MS)
})

t.test('one process of a host does the upkeep, and a failure does not end it', async (t) => {
  const [logs, calls]: [unknown[][], string[]] = [[], []]
  const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
  const write = (...line: unknown[]) => { logs.push(line) }
  const logger = { level: 'warn', child: () => logger, ...Object.fromEntries(levels.map((level) => [level, write])) }
  for (const isHere of [true, false]) {
    const app = fastify({ loggerInstance: logger as never })
    t.teardown(() => app.close())
    await app.register(upkeep, { isHere })
    app.upkeep.repeat(1, async () => {
      calls.push(String(isHere))
      throw new Error('full')
    }, 'rows stay')
    await app.ready()
  }
  await until(() => calls.length > 2, 'more attempts')
  t.notOk(calls.includes('false'))
  t.equal(logs[0]?.[1], 'rows stay')
})
