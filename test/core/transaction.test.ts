import fastify from 'fastify'
import t, { type Test } from 'tap'
import database, { REQUEST_LIMITS } from '../../core/database/database.ts'
import type { Db } from '../../core/database/db.ts'
import errorHandler from '../../core/web/error-handler.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { features } from '../../plugins/index.ts'
import { createTestDatabase } from '../support.ts'
import { until } from '../until.ts'

async function build (t: Test, limits: Partial<typeof REQUEST_LIMITS> = {}) {
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(errorHandler)
  const url = await createTestDatabase(t)
  await app.register(database, {
    url, poolSize: 2, ...await features.loadTables(), limits: { ...REQUEST_LIMITS, ...limits }
  })
  await app.pg.query("insert into throttles (key) values ('a'), ('b')")
  return app
}

/** Creates a gate that opens when `count` callers have arrived. */
function createGate (count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let come = 0
  return async () => {
    if (++come >= count) resolve()
    await promise
  }
}

/** Returns the handle with a unit of work, through which its transactions then go. */
function withEntities (db: Db): Db {
  t.ok(db.em)
  return db
}

const ADD = 'update throttles set count = count + 1 where key = '

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

t.test('work on files waits for the outermost commit, or for the rollback of its part', async (t) => {
  const app = await build(t)
  const done: string[] = []
  function note (tx: Db, name: string): void {
    tx.afterCommit(async () => {
      const { rows } = await app.pg.query("select count from throttles where key = 'a'")
      done.push(`${name} committed ${rows[0]?.count}`)
    })
    tx.afterRollback(async () => { done.push(`${name} rolled back`) })
  }
  const inner = (tx: Db, isBroken = false) => tx.transact(async (part) => {
    await part.query(`${ADD} 'a'`)
    note(part, 'inner')
    if (isBroken) throw new Error('broken')
  })
  for (const handle of [app.db, withEntities(app.db)]) {
    await app.pg.query('update throttles set count = 0')
    done.length = 0
    await handle.transact(async (tx) => {
      note(tx, 'outer')
      await inner(tx)
      t.same(done, [], 'the outer part may still fail')
    })
    t.same(done, ['outer committed 1', 'inner committed 1'])

    done.length = 0
    await t.rejects(handle.transact(async (tx) => {
      await inner(tx)
      throw new Error('outer')
    }), { message: 'outer' })
    t.same(done, ['inner rolled back'])

    done.length = 0
    await handle.transact(async (tx) => {
      note(tx, 'outer')
      await inner(tx, true).catch(() => {})
      t.same(done, ['inner rolled back'])
    })
    t.same(done, ['inner rolled back', 'outer committed 1'])
  }
  t.throws(() => { app.db.afterCommit(async () => {}) }, { message: /call transact first/ })
})

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

t.test('a request without a free connection is answered with 503', async (t) => {
  const app = await build(t, { connectionTimeoutMillis: 1_000 })
  app.get('/', async () => await app.pg.query('select 1'))
  const connect = () => until(() => app.pg.connect().catch(() => null), 'a connection')
  const held = await Promise.all([connect(), connect()])
  t.match(await app.inject({ url: '/' }), { statusCode: 503, headers: { 'retry-after': '2' } })
  for (const client of held) client.release()
  t.equal((await app.inject({ url: '/' })).statusCode, 200)
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

t.test('a route may have a longer time limit for the database', async (t) => {
  const app = await build(t, { totalMs: 300 })
  const work = async () => { for (let step = 0; step < 3; step++) await app.pg.query('select pg_sleep(0.2)') }
  app.get('/short', work)
  app.get('/long', { config: { databaseMs: 60_000 } }, work)
  t.equal((await app.inject({ url: '/short' })).statusCode, 503)
  t.equal((await app.inject({ url: '/long' })).statusCode, 200)
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

t.test('work after the response has no time limit', async (t) => {
  const app = await build(t, { totalMs: 300 })
  const left: Promise<unknown>[] = []
  app.get('/', async (_request, reply) => {
    left.push(new Promise((resolve) => { reply.raw.once('close', resolve) })
      .then(async () => { for (let step = 0; step < 5; step++) await app.pg.query('select pg_sleep(0.1)') }))
    return 'later'
  })
  t.equal((await app.inject({ url: '/' })).statusCode, 200)
  await t.resolves(Promise.all(left))
})

t.test('connections that break within a transaction are released', async (t) => {
  const app = await build(t)
  app.get('/', async ({ db }) => await inTransaction(db, (tx) => tx.query('select pg_terminate_backend(pg_backend_pid())')))
  app.get('/one', async ({ db }) => await inTransaction(db, (tx) => tx.query('select 1 as one')))
  for (let time = 0; time < 6; time++) t.equal((await app.inject({ url: '/' })).statusCode, 503)
  t.equal((await app.inject({ url: '/one' })).statusCode, 200, 'there were two connections')
})
