import t from 'tap'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { until } from '../../until.ts'
import { ADD, build } from './transaction-support.ts'

t.test('a deleted reference is a conflict; timeouts and outages are retryable', async (t) => {
  const app = await build(t, { statement_timeout: 3_000, lock_timeout: 500 })
  app.get('/orphan', async ({ db }) => await db.query(
    "insert into pairing_codes (code_hash, token_id, expires_at) values ('x', 1, now())"))
  app.get('/slow', async () => await app.pg.query('select pg_sleep(10)'))
  app.get('/locked', async ({ db }) => await db.query(`${ADD}'a'`))
  app.get('/killed', async ({ db }) => await db.query('select pg_terminate_backend(pg_backend_pid())'))
  app.get('/killed-in-transaction', async ({ db }) => await inTransaction(db, async (tx) =>
    await tx.query('select pg_terminate_backend(pg_backend_pid())')))
  const holder = await app.pg.connect()
  await holder.query('begin')
  await holder.query(`${ADD}'a'`)
  for (const [url, status] of [
    ['/orphan', 409], ['/slow', 503], ['/locked', 503], ['/killed', 503], ['/killed-in-transaction', 503]
  ] as const) {
    const reply = await app.inject({ url })
    t.equal(reply.statusCode, status, `${url}: ${reply.body}`)
    t.equal(reply.headers['retry-after'], status === 503 ? '2' : undefined, url)
    t.notMatch(reply.body, /pairing_codes|pg_/, 'nothing of the database is told')
  }
  await holder.query('rollback')
  holder.release()
  await until(async () => (await app.inject({ url: '/locked' })).statusCode === 200, 'an answer')
})

t.test('the waits of a request do not exceed its time, and the rest is refused', async (t) => {
  const app = await build(t, { totalMs: 500 })
  const own = { ran: 0, answered: 0 }
  const steps: Record<string, (db: Db) => Promise<unknown>> = {
    driver: () => app.pg.query('select pg_sleep(0.2)'),
    statements: (db) => db.query('select pg_sleep(0.2)'),
    entities: (db) => db.em.execute('select pg_sleep(0.2)'),
    'a transaction': (db) => inTransaction(db, (tx) => tx.query('select pg_sleep(0.2)'))
  }
  app.get<{ Querystring: { by: string } }>('/', async ({ db, query }) => {
    for (let step = 0; step < 20; step++) {
      await steps[query.by]?.(db)
      own.answered++
    }
  })
  app.post<{ Querystring: { by: string } }>('/', async ({ db, query }) => {
    for (let step = 0; step < 20; step++) {
      await steps[query.by]?.(db).then(() => { own.answered++ }, () => {})
      own.ran++
    }
    await steps[query.by]?.(db)
  })
  for (const by of Object.keys(steps)) {
    for (const method of ['GET', 'POST'] as const) {
      own.answered = 0
      const reply = await app.inject({ method, url: '/', query: { by }, ...(method === 'POST' ? { payload: { a: 1 } } : {}) })
      t.match(reply, { statusCode: 503, headers: { 'retry-after': '2' } }, `${method} by ${by}: ${reply.body}`)
      t.ok(own.answered <= 2, `${method} by ${by}: ${own.answered} of 20 steps`)
    }
  }
  t.equal(own.ran, 80)
  t.same((await app.pg.query('select 1 as one')).rows, [{ one: 1 }], 'others have theirs')
})

t.test('waits for connections and locks count for the time of a request', async (t) => {
  const app = await build(t, { totalMs: 1_500 })
  app.get('/locked', async () => await app.pg.query(`${ADD}'a'`))
  app.get('/locked-twice', async () => {
    await app.pg.query(`${ADD}'a'`).catch(() => {})
    await app.pg.query(`${ADD}'a'`)
  })
  app.get('/free', async () => await app.pg.query('select 1'))
  const [holder, other] = await Promise.all([app.pg.connect(), app.pg.connect()])
  await holder.query('begin')
  await holder.query(`${ADD}'a'`)
  t.match(await app.inject({ url: '/free' }), { statusCode: 503 }, 'there is no connection')
  other.release()
  for (const url of ['/locked', '/locked-twice']) {
    const since = performance.now()
    t.match(await app.inject({ url }), { statusCode: 503 }, url)
    const ms = performance.now() - since
    t.ok(ms > 1_400, `${url}: ${ms} ms`)
  }
  await holder.query('rollback')
  holder.release()
  await until(async () => (await app.inject({ url: '/locked' })).statusCode === 200, 'an answer')
})

/** Creates a gate that opens when `count` callers have arrived. */
function createGate (count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let come = 0
  return async () => {
    if (++come >= count) resolve()
    await promise
  }
}

t.test('two deadlocked transactions both succeed, each once', async (t) => {
  const app = await build(t)
  for (const kind of ['statements', 'entities']) {
    const meet = createGate(2)
    const tries: string[] = []
    const run = async (first: string, second: string) => {
      const work = async (query: (sql: string) => Promise<unknown>) => {
        tries.push(first)
        await query(`${ADD}'${first}'`)
        await meet()
        await query(`${ADD}'${second}'`)
      }
      if (kind === 'statements') await inTransaction(app.db, (tx) => work((sql) => tx.query(sql)))
      else await inTransaction(app.db, (tx) => work((sql) => tx.em.execute(sql)))
    }
    await app.pg.query('update throttles set count = 0')
    await Promise.all([run('a', 'b'), run('b', 'a')])
    t.ok(tries.length > 2, `${kind}: they did meet`)
    t.same((await app.pg.query('select count from throttles')).rows, [{ count: 2 }, { count: 2 }], kind)
  }
})
