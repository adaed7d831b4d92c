import pg from 'pg'
import t, { type Test } from 'tap'
import { createNames, prepareStatements } from '../../../core/database/statements.ts'
import { buildTestApp, createTestDatabase } from '../../support.ts'

const PREPARED = "select count(*)::int as count from pg_prepared_statements where statement like 'select 40 + %'"

async function openPool (t: Test): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: await createTestDatabase(t), max: 1 })
  t.teardown(() => pool.end())
  return pool
}

async function countPrepared (pool: pg.Pool): Promise<number | undefined> {
  return (await pool.query<{ count: number }>(PREPARED)).rows[0]?.count
}

async function askOften (pool: pg.Pool): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const value of [1, 2, 3, 4, 5, 6]) {
    answers.push((await pool.query('select 40 + $1::int as answer', [value])).rows[0]?.answer)
  }
  return answers
}

t.test('a frequent statement is planned once and gives correct results', async (t) => {
  const pool = await openPool(t)
  prepareStatements(pool)
  t.same(await askOften(pool), [41, 42, 43, 44, 45, 46])
  t.equal(await countPrepared(pool), 1)
})

t.test('statements without values are not prepared', async (t) => {
  const pool = await openPool(t)
  prepareStatements(pool)
  for (let times = 0; times < 10; times++) await pool.query('begin; commit')
  t.equal(await countPrepared(pool), 0)
})

t.test('rare statements get no name, nor does any after a hundred', (t) => {
  let now = 0
  const findName = createNames(() => now)
  const nameAfter = (text: string, times: number) => Array.from({ length: times }, () => findName(text)).at(-1)
  t.equal(nameAfter('seldom', 4), undefined)
  now = 61_000
  t.equal(nameAfter('seldom', 4), undefined, 'the minute before does not count')
  t.equal(nameAfter('often', 5), 'svc_1')
  for (let n = 2; n <= 100; n++) t.equal(nameAfter(`often ${n}`, 5), `svc_${n}`)
  t.equal(nameAfter('one too many', 50), undefined)
  t.equal(findName('often'), 'svc_1')
  t.end()
})

t.test('with prepared statements disabled nothing is prepared', async (t) => {
  const { app } = await buildTestApp(t, { env: { SVC_DATABASE_PREPARED_STATEMENTS: 'false', SVC_DATABASE_POOL_SIZE: '1' } })
  t.same(await askOften(app.pg), [41, 42, 43, 44, 45, 46])
  t.equal(await countPrepared(app.pg), 0)
})
