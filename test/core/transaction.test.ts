import type { EntityManager } from '@mikro-orm/postgresql'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import database, { REQUEST_LIMITS } from '../../core/database/database.ts'
import errorHandler from '../../core/web/error-handler.ts'
import { inTransaction, transaction } from '../../core/database/transaction.ts'
import { features } from '../../plugins/index.ts'
import { createTestDatabase } from '../support.ts'

async function build (t: Test, limits: Partial<typeof REQUEST_LIMITS> = {}) {
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(errorHandler)
  const url = await createTestDatabase(t)
  await app.register(database, {
    url, poolSize: 4, entities: features.entities, limits: { ...REQUEST_LIMITS, ...limits }
  })
  await app.pg.query("insert into throttles (key) values ('a'), ('b')")
  return app
}

/** Everybody waits until `count` have come. */
function createGate (count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let come = 0
  return async () => {
    if (++come >= count) resolve()
    await promise
  }
}

const ADD = 'update throttles set count = count + 1 where key = '

t.test('two transactions that wait for each other are both done, each once', async (t) => {
  const app = await build(t)
  for (const kind of ['driver', 'ORM']) {
    const meet = createGate(2)
    const tries: string[] = []
    const run = async (first: string, second: string) => {
      const work = async (query: (sql: string) => Promise<unknown>) => {
        tries.push(first)
        await query(`${ADD}'${first}'`)
        await meet()
        await query(`${ADD}'${second}'`)
      }
      if (kind === 'driver') await transaction(app.pg, (client) => work((sql) => client.query(sql)))
      else await inTransaction(app.orm.em.fork(), (tx: EntityManager) => work((sql) => tx.execute(sql)))
    }
    await app.pg.query('update throttles set count = 0')
    await Promise.all([run('a', 'b'), run('b', 'a')])
    t.ok(tries.length > 2, `${kind}: they did meet`)
    t.same((await app.pg.query('select count from throttles')).rows, [{ count: 2 }, { count: 2 }], kind)
  }
})

t.test('what was deleted meanwhile is a conflict, what takes too long or is away is to be tried again', async (t) => {
  const app = await build(t, { statement_timeout: 100, lock_timeout: 50 })
  app.get('/orphan', async ({ em }) => await em.execute(
    "insert into pairing_codes (code_hash, token_id, expires_at) values ('x', 1, now())"))
  app.get('/slow', async () => await app.pg.query('select pg_sleep(10)'))
  app.get('/locked', async ({ em }) => await em.execute(`${ADD}'a'`))
  app.get('/killed', async ({ em }) => await em.execute('select pg_terminate_backend(pg_backend_pid())'))
  app.get('/killed-in-transaction', async () => await transaction(app.pg, async (client) =>
    await client.query('select pg_terminate_backend(pg_backend_pid())')))
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
  t.equal((await app.inject({ url: '/locked' })).statusCode, 200)
})

t.test('a request that finds no free connection is answered', async (t) => {
  const app = await build(t, { connectionTimeoutMillis: 1_000 })
  app.get('/', async () => await app.pg.query('select 1'))
  const held = await Promise.all([app.pg.connect(), app.pg.connect()])
  t.match(await app.inject({ url: '/' }), { statusCode: 503, headers: { 'retry-after': '2' } })
  for (const client of held) client.release()
  t.equal((await app.inject({ url: '/' })).statusCode, 200)
})
