import t from 'tap'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { until } from '../../until.ts'
import { ADD, build } from './transaction-support.ts'

/** Returns the handle with a unit of work, through which its transactions then go. */
function withEntities (db: Db): Db {
  t.ok(db.em)
  return db
}

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

t.test('a request without a free connection is answered with 503', async (t) => {
  const app = await build(t, { connectionTimeoutMillis: 1_000 })
  app.get('/', async () => await app.pg.query('select 1'))
  const connect = () => until(() => app.pg.connect().catch(() => null), 'a connection')
  const held = await Promise.all([connect(), connect()])
  t.match(await app.inject({ url: '/' }), { statusCode: 503, headers: { 'retry-after': '2' } })
  for (const client of held) client.release()
  t.equal((await app.inject({ url: '/' })).statusCode, 200)
})

t.test('a route may have a longer time limit for the database', async (t) => {
  const app = await build(t, { totalMs: 300 })
  const work = async () => { for (let step = 0; step < 3; step++) await app.pg.query('select pg_sleep(0.2)') }
  app.get('/short', work)
  app.get('/long', { config: { databaseMs: 60_000 } }, work)
  t.equal((await app.inject({ url: '/short' })).statusCode, 503)
  t.equal((await app.inject({ url: '/long' })).statusCode, 200)
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
