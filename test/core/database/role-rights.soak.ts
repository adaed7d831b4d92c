import pg from 'pg'
import { pino } from 'pino'
import t from 'tap'
import { startEmbeddedPostgres } from '../../../core/postgres/embedded.ts'
import { StartError } from '../../../core/errors.ts'
import { migrateDatabase } from '../../../core/server.ts'
import { features } from '../../../plugins/index.ts'
import { superuserUrl } from '../../superuser.ts'

// A cluster of its own, because only its superuser creates roles, takes seconds.
const dataDir = t.testdir({})
const server = await startEmbeddedPostgres({ dataDir: `${dataDir}/db`, log: () => {}, settings: { fsync: 'off' } })
t.teardown(() => server.stop())
const { config } = await features.loadConfig()
const log = pino({ level: 'silent' })
const start = (databaseUrl: string) => migrateDatabase(features, { config, databaseUrl, log })

const superuser = new pg.Client({ connectionString: superuserUrl(`${dataDir}/db`, server.url) })
await superuser.connect()
t.teardown(() => superuser.end())
await superuser.query("create role guest login password 'x'")

const addressOf = (database: string) => {
  const url = new URL(server.url)
  Object.assign(url, { username: 'guest', password: 'x', pathname: `/${database}` })
  return url.href
}

t.test('a role without rights on the tables is refused with its name and the remedy', async (t) => {
  await start(server.url)
  const { pathname, username } = new URL(server.url)
  const guest = addressOf(pathname.slice(1))
  const refusal = (reason: string) => ({
    message: new RegExp(`^The role 'guest' ${reason}.*to the role '${username}', .*: grant ${username} to guest$`)
  })
  await superuser.query(`grant connect on database ${pathname.slice(1)} to guest`)
  t.ok(await start(guest).catch((err: unknown) => err) instanceof StartError)
  await t.rejects(start(guest), refusal('has too few rights in the database'))
  const client = new pg.Client({ connectionString: superuserUrl(`${dataDir}/db`, server.url) })
  await client.connect()
  t.teardown(() => client.end())
  await client.query(`grant usage on schema public, pgboss to guest; grant select on migrations to guest;
    grant select on all tables in schema pgboss to guest`)
  await t.rejects(start(guest), refusal('may not read and write the table pgboss\\.'))
  await client.query(`grant all on all tables in schema public, pgboss to guest;
    grant all on all sequences in schema public, pgboss to guest; revoke insert on roms from guest`)
  await t.rejects(start(guest), refusal('may not read and write the table public\\.roms '))
  await client.query('grant insert on roms to guest')
  t.same(await start(guest), [])
})

t.test('a role that may create no tables in a new database is refused with the remedy', async (t) => {
  await superuser.query('create database "Games"')
  await t.rejects(start(addressOf('Games')), {
    message: /^The role 'guest' has too few rights in the database 'Games': .*: alter database "Games" owner to guest$/
  })
})
