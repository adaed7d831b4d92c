import { setImmediate } from 'node:timers/promises'
import { Migration } from '@mikro-orm/migrations'
import fastify from 'fastify'
import { sql } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import database, { migrate, openOrm } from '../../../core/database/database.ts'
import { explainStartError } from '../../../core/database/errors.ts'
import { watchPool } from '../../../core/database/pool.ts'
import { limitRequests } from '../../../core/database/request-time.ts'
import { StartError } from '../../../core/errors.ts'
import errorHandler from '../../../core/web/error-handler.ts'
import { features } from '../../../plugins/index.ts'
import { createTestDatabase } from '../../support.ts'
import { until } from '../../until.ts'

const tables = await features.loadTables()
const optionsOf = (url: string) => ({ url, poolSize: 2, ...tables })
const names = tables.migrations.map(({ name }) => name)

async function connect (t: Pick<Test, 'teardown'>, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  return client
}

t.test('the migrated database is exactly what the entities describe', async (t) => {
  const orm = await openOrm(optionsOf(await createTestDatabase(t)))
  t.teardown(() => orm.close())
  t.equal((await orm.schema.getUpdateSchemaSQL({ safe: false })).trim(), '')
})

t.test('every foreign key has an index on its columns', async (t) => {
  const client = await connect(t, await createTestDatabase(t))
  // A partial index cannot serve all rows.
  const { rows } = await client.query(`select c.conrelid::regclass::text as table, c.conname as constraint
    from pg_constraint c where c.contype = 'f' and c.connamespace = 'public'::regnamespace and not exists (
      select from pg_index i where i.indrelid = c.conrelid and i.indpred is null
        and (i.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey)`)
  t.same(rows, [])
})

t.test('concurrent migrations of an empty database run each migration once', async (t) => {
  const url = await createTestDatabase(t, 'template0')
  const ran = await Promise.all([migrate(optionsOf(url)), migrate(optionsOf(url)), migrate(optionsOf(url))])
  t.same(ran.map((list) => list.length).sort(), [0, 0, names.length])
  t.same(await migrate(optionsOf(url)), [], 'a second start finds nothing to do')
})

t.test('time limits of the database do not end a migration or the wait for one', async (t) => {
  const url = await createTestDatabase(t, 'template0')
  const holder = await connect(t, url)
  await holder.query('select pg_advisory_lock(7364120)')
  const { rows: [database] } = await holder.query<{ name: string }>('select current_database() as name')
  const slow = {
    name: '99991231000000-slow', class: class extends Migration { override up () { this.addSql('select pg_sleep(0.4)') } }
  }
  for (const limit of ['statement_timeout', 'lock_timeout', 'idle_session_timeout']) {
    await holder.query(`alter database ${database?.name} set ${limit} = '200ms'`)
  }
  const migrated = migrate({ ...optionsOf(url), migrations: [...tables.migrations, slow] })
  const isWaiting = async () => (await holder.query(`select from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`)).rowCount === 1
  await until(isWaiting, 'the migration waits for the lock')
  await holder.query('select pg_sleep(0.4)')
  await holder.query('select pg_advisory_unlock(7364120)')
  t.same((await migrated).length, names.length + 1)
})

t.test('migrations run in the order of their names, which begin with a date', async (t) => {
  t.same([...names].sort(), names)
  for (const name of names) t.match(name, /^\d{14}-[a-z0-9-]+$/)
})

t.test('a database of a newer release is not changed', async (t) => {
  const url = await createTestDatabase(t)
  const client = await connect(t, url)
  await client.query("insert into migrations (name, executed_at) values ('99991231000000-contract-99991230000000-from-the-future', now())")
  t.teardown(() => client.query("delete from migrations where name = '99991231000000-contract-99991230000000-from-the-future'"))
  await t.rejects(migrate(optionsOf(url)), {
    constructor: StartError, message: /newer release, or a preview of the first \(migration 99991231000000-contract-99991230000000-from-the-future\)\. Start that release/
  })
})

t.test('an unreachable database is reported with its remedy', async (t) => {
  await t.rejects(migrate(optionsOf('postgres://svc@127.0.0.1:1/svc')),
    { constructor: StartError, message: /cannot be reached: .*Check SVC_DATABASE_URL/ })
})

t.test('a database without a free connection is reported with its remedy', async (t) => {
  const url = await createTestDatabase(t)
  const client = await connect(t, url)
  const name = client.escapeIdentifier(new URL(url).pathname.slice(1))
  await client.query(`alter database ${name} connection limit 1`)
  t.teardown(() => client.query(`alter database ${name} connection limit -1`))
  const message = /^The database has no free connection: too many connections for database .*\. Raise the limit of connections there, /
  await t.rejects(migrate(optionsOf(url)), { constructor: StartError, message, exitCode: 75 })
  const other = new pg.Client({ connectionString: url })
  const refusal = await other.connect().then(() => null, (err: unknown) => err)
  t.match(explainStartError(refusal), { constructor: StartError, message }, 'also at any other statement of a start')
  const bug = new TypeError('a bug')
  t.equal(explainStartError(bug), bug)
})

t.test('a database that can only be read is refused, and requests end in 503', async (t) => {
  const url = await createTestDatabase(t)
  const client = await connect(t, url)
  const name = client.escapeIdentifier(new URL(url).pathname.slice(1))
  await client.query(`alter database ${name} set default_transaction_read_only = on`)
  t.teardown(() => client.query(`alter database ${name} reset default_transaction_read_only`))
  await t.rejects(migrate(optionsOf(url)), { constructor: StartError, message: /can only be read.*select pg_promote/ })

  const app = fastify()
  await app.register(errorHandler)
  await app.register(database, optionsOf(url))
  t.teardown(() => app.close())
  app.get('/', async (request) => (await request.db.query('delete from workers')).rowCount)
  const answer = await app.inject('/')
  t.match([answer.statusCode, answer.headers['retry-after']], [503, '2'])
})

t.test('requests end in 503 if the database refuses the sign-in or has no address', async (t) => {
  const url = await createTestDatabase(t)
  const change = (edit: (changed: URL) => void) => {
    const changed = new URL(url)
    edit(changed)
    return changed.href
  }
  const wrong = [
    change((changed) => { changed.username = 'nobody_at_all' }),
    change((changed) => { changed.pathname = '/no_such_database' }),
    'postgres://svc@database.invalid/svc',
    'postgres://svc@localhost/svc?host=/nonexistent'
  ]
  for (const address of wrong) {
    const app = fastify()
    await app.register(errorHandler)
    t.teardown(() => app.close())
    app.get('/', async () => { await new pg.Client({ connectionString: address }).connect() })
    const answer = await app.inject('/')
    t.match([answer.statusCode, answer.headers['retry-after']], [503, '2'], address)
  }
})

t.test('a full disk of the database makes requests end in 503 with the remedy', async (t) => {
  const app = fastify()
  await app.register(errorHandler)
  await app.register(database, optionsOf(await createTestDatabase(t)))
  t.teardown(() => app.close())
  app.get('/', async (request) => {
    await request.db.query("do $$ begin raise 'could not extend file' using errcode = 'disk_full'; end $$")
  })
  const answer = await app.inject('/')
  t.match([answer.statusCode, answer.json()], [503, { detail: /disk of the database is full; free some space/ }])
})

t.test('every request has its own unit of work', async (t) => {
  const app = fastify()
  await app.register(database, optionsOf(await createTestDatabase(t)))
  t.teardown(() => app.close())
  const seen = new Set<unknown>()
  app.get('/', async (request) => {
    seen.add(request.db.em)
    return (await request.db.query('select 1 as one')).rows
  })
  t.same((await app.inject({ url: '/' })).json(), [{ one: 1 }])
  await app.inject({ url: '/' })
  t.equal(seen.size, 2)
})

t.test('a process that closes waits for a statement whose connection is being opened', async (t) => {
  const app = fastify()
  await app.register(database, optionsOf(await createTestDatabase(t)))
  await app.ready()
  const readOne = async () => (await sql`select 1 as one`.execute(app.db)).rows
  await readOne()
  const both = Promise.all([readOne(), readOne()])
  // The second statement begins to open a connection.
  await setImmediate()
  await app.close()
  t.same(await both, [[{ one: 1 }], [{ one: 1 }]])
})

t.test('a connection that the database ended is not reused', async (t) => {
  const app = fastify()
  await app.register(database, optionsOf(await createTestDatabase(t)))
  t.teardown(() => app.close())
  for (let time = 0; time < 20; time++) {
    await t.rejects(app.db.query('select pg_terminate_backend(pg_backend_pid())'), { code: '57P01' })
    t.same((await app.db.query('select 1 as one')).rows, [{ one: 1 }])
  }
})

t.test('a connection that times out after its request does no harm', async (t) => {
  const pool = new pg.Pool({ connectionString: await createTestDatabase(t), max: 1, connectionTimeoutMillis: 200 })
  watchPool(pool)
  const app = fastify()
  limitRequests(app, 50)
  app.get('/', async () => { await pool.query('select 1') })
  const held = await until(() => pool.connect().catch(() => null), 'its only connection')
  t.teardown(async () => {
    held.release()
    await app.close()
    await pool.end()
  })
  const reply = await app.inject('/')
  t.equal(reply.statusCode, 500)
  t.match(reply.json(), { message: /used up its time limit for the database/ })
  await until(() => pool.waitingCount === 0, 'a pool for which nobody waits')
})
