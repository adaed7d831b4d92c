import { accessSync, constants } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { moveFormerCluster } from '../../../core/postgres/former-cluster.ts'
import database from '../../../core/database/database.ts'
import { findUnusable } from '../../../core/database/known-schema.ts'
import { StartError } from '../../../core/errors.ts'
import { countRoom } from '../../../core/files/free-space.ts'
import { findOwnMajor } from '../../../core/postgres/binaries.ts'
import { migrateDatabase } from '../../../core/server.ts'
import { FORMER_VERSIONS } from '../../../plugins/backup/cluster/programs.ts'
import { features } from '../../../plugins/index.ts'
import { makeFolder } from '../../folder.ts'
import { createTestDatabase } from '../../support.ts'
import { until } from '../../until.ts'
import { LATER, addLater, listReleases, migrateTo, readContent, withConnection } from './support.ts'
import { CONTRACT, EXPAND, FIRST, NEXT, ask, configOf, createLog, createOld } from './upgrades-support.ts'

const first = new URL(await createOld(t, FIRST)).pathname.slice(1)

/** Creates a database of the first release, in a process of a later one. */
async function createFirst (t: Test): Promise<string> {
  addLater(t)
  return await createTestDatabase(t, first)
}

t.test('an interrupted upgrade changes nothing, and the next one completes', async (t) => {
  const url = await createFirst(t)
  const before = await readContent(url)
  await withConnection(url, async (client) => {
    // This lock blocks the last statement of the upgrade.
    await client.query('begin; lock table firmware in access share mode')
    const upgrade = t.rejects(migrateTo(url, LATER.name))
    // This uses another connection, because within a transaction the sessions of others are read only once.
    await until(async () => (await ask(url, `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query ~ '^alter table firmware'`)).length === 1,
    'an upgrade that waits')
    await upgrade
    await client.query('rollback')
  })
  t.same(await readContent(url), before)
  t.same(await migrateTo(url, LATER.name), listReleases().slice(1))
})

/** Finds a folder on a nearly full disk; null if this machine has none. */
async function findFullDisk (): Promise<string | null> {
  for (const folder of ['/dev/shm', '/run/lock', '/run']) {
    try {
      accessSync(folder, constants.W_OK)
      if (await countRoom(folder) < 0) return folder
    } catch {
      // The folder does not exist, or is not writable.
    }
  }
  return null
}
const full = await findFullDisk()

t.test('a full disk does not stop the upgrade; the log names the needed space', { skip: full === null }, async (t) => {
  const dataDir = await mkdtemp(join(full ?? '', 'svc-test-'))
  t.teardown(() => rm(dataDir, { recursive: true }))
  const { log, lines } = createLog()
  const databaseUrl = await createFirst(t)
  t.ok((await migrateDatabase(features, { config: configOf(dataDir), databaseUrl, log })).length > 0)
  t.match(lines.join(''), /changed without a backup: The backup needs about 0\.\d GiB in /)
  t.same(await readdir(join(dataDir, 'backups', 'before-upgrade')), [])
})

t.test('a database that cannot be backed up is not migrated, and the remedy is named', async (t) => {
  const url = await createFirst(t)
  const dataDir = makeFolder(t, { backups: 'no folder' })
  await t.rejects(migrateDatabase(features, { config: configOf(dataDir), databaseUrl: url, log: createLog().log }),
    { constructor: StartError, message: /could not be backed up .*Nothing was changed\..* SVC_BACKUP_BEFORE_UPGRADE=false/ })
  t.equal((await ask(url, 'select from migrations')).length, 1)
})

t.test('the programs of the former major version of PostgreSQL are known', async (t) => {
  const own = Number(await findOwnMajor())
  t.match(FORMER_VERSIONS.get(String(own - 1)), new RegExp(`^${own - 1}\\.`))
})

t.test('a cluster is moved only if an earlier major version wrote it', async (t) => {
  const own = Number(await findOwnMajor())
  const folder = makeFolder(t, {
    ...Object.fromEntries([own - 1, own, own + 1].map((major) => [`${major}`, { db: { PG_VERSION: `${major}\n` } }])),
    backup: { 'svc-20260102T000000Z.tar.gz': '', 'svc-20260103T000000Z.tar.gz': '' }
  })
  const move = (major: number, more: Record<string, string> = {}) =>
    moveFormerCluster(configOf(join(folder, String(major)), { SVC_BACKUP_DIR: join(folder, 'backup'), ...more }), createLog().log, features)
  await move(own)
  await move(own + 1)
  await move(own - 1, { SVC_DATABASE_URL: 'postgres://elsewhere/svc' })
  const { PATH } = process.env
  t.teardown(() => { process.env.PATH = PATH })
  process.env.PATH = ''
  const error = await move(own - 1).catch((err: unknown) => err)
  process.env.PATH = PATH
  for (const words of [`written by PostgreSQL ${own - 1}`, 'npm cannot be run', 'The database is unchanged', `@${own - 1}.`,
    join(folder, String(own - 1), 'postgresql', String(own - 1)), `restore ${join(folder, 'backup', 'svc-20260103T000000Z.tar.gz')}`]) {
    t.match(error, { constructor: StartError, message: words })
  }
  t.same(await readdir(join(folder, String(own - 1), 'db')), ['PG_VERSION'])
})

t.test('every command refuses a schema without something it uses, in one line', async (t) => {
  const url = await createTestDatabase(t)
  await ask(url, "insert into migrations (name, executed_at) values ('99991231000000-contract-99990101000000-shelves', now())")
  t.teardown(() => ask(url, "delete from migrations where name = '99991231000000-contract-99990101000000-shelves'"))
  const app = fastify()
  t.teardown(() => app.close())
  await t.rejects(async () => { await app.register(database, { url, poolSize: 1, ...await features.loadTables() }) }, {
    constructor: StartError, message: /^The database was made by a newer release, or a preview of the first \(migration 99991231000000-contract-99990101000000-shelves\)\. [^\n]*$/
  })
})

const listNames = (...names: string[]) => names.map((name) => ({ name }))

t.test('a release works with later migrations, except with those that drop what it uses', async (t) => {
  const executed = ['1', EXPAND, NEXT, CONTRACT]
  t.equal(findUnusable(executed, listNames('1', EXPAND, NEXT, CONTRACT)), undefined, 'the release itself')
  t.equal(findUnusable(executed, listNames('1', EXPAND)), undefined, 'the release that expanded')
  t.equal(findUnusable(['1', EXPAND], listNames('1')), undefined, 'the release before, while the schema is expanded')
  t.equal(findUnusable(executed, listNames('1')), CONTRACT, 'the release before, once it is contracted')
  t.equal(findUnusable(['20260101000000-preview', EXPAND], listNames(EXPAND)), '20260101000000-preview', 'a preview')
})
