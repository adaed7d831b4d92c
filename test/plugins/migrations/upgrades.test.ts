import { accessSync, constants } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Migration } from '@mikro-orm/migrations'
import fastify from 'fastify'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { moveFormerCluster } from '../../../core/postgres/former-cluster.ts'
import database, { migrate } from '../../../core/database/database.ts'
import { findUnusable, readContract } from '../../../core/database/known-schema.ts'
import { StartError } from '../../../core/errors.ts'
import errorHandler from '../../../core/web/error-handler.ts'
import { createHostId } from '../../../core/host.ts'
import watchSchema from '../../../core/jobs/watch-schema.ts'
import workers from '../../../core/jobs/workers.ts'
import { countRoom } from '../../../core/files/free-space.ts'
import { findOwnMajor } from '../../../core/postgres/binaries.ts'
import { migrateDatabase } from '../../../core/server.ts'
import { readArchive } from '../../../plugins/backup/archive/read-archive.ts'
import { FORMER_VERSIONS } from '../../../plugins/backup/cluster/programs.ts'
import { restoreBackup } from '../../../plugins/backup/restore/restore-backup.ts'
import { features } from '../../../plugins/index.ts'
import { loadConfig } from '../../load-config.ts'
import { makeFolder } from '../../folder.ts'
import { createTestDatabase } from '../../support.ts'
import { until } from '../../until.ts'
import { LATER, addLater, listLost, listReleases, liveUpTo, migrateTo, readContent, withConnection } from './support.ts'

const FIRST = listReleases()[0] ?? ''

const ask = async <Row extends object>(url: string, sql: string) =>
  await withConnection(url, async (client) => (await client.query<Row>(sql)).rows)

/** Creates a database of a former release. */
async function createOld (t: Pick<Test, 'testdir' | 'teardown'>, release: string): Promise<string> {
  const url = await createTestDatabase(t, 'template0')
  await liveUpTo(url, release)
  return url
}

const first = new URL(await createOld(t, FIRST)).pathname.slice(1)

/** Creates a database of the first release, in a process of a later one. */
async function createFirst (t: Test): Promise<string> {
  addLater(t)
  return await createTestDatabase(t, first)
}

const configOf = (dataDir: string, more: Record<string, string> = {}) =>
  loadConfig({ SVC_DATA_DIR: dataDir, SVC_LOG_LEVEL: 'silent', ...more }).config

/** Collects the lines of the log. */
function createLog () {
  const lines: string[] = []
  return { log: pino({ level: 'info' }, { write (line) { lines.push(line) } }), lines }
}

t.test('an upgrade from any release preserves the data of people', async (t) => {
  addLater(t)
  const releases = listReleases()
  for (const release of releases.slice(0, -1)) {
    const url = await createOld(t, release)
    const before = await readContent(url)
    t.same(await migrateTo(url, LATER.name), releases.slice(releases.indexOf(release) + 1), release)
    t.same(listLost(before, await readContent(url)), [], release)
    t.match(await ask(url, 'select name, later_rating from roms order by id'),
      [{ name: 'My Ärger', later_rating: 1 }, { name: 'Disc', later_rating: 0 }], release)
    t.match(await ask(url, "select sum(roms)::int as roms from library_counts where kind = 'extension'"), [{ roms: 2 }], release)
  }
})

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

t.test('a database is backed up before migrations, and the newest three are restorable', async (t) => {
  const url = await createFirst(t)
  const before = await readContent(url)
  const folder = makeFolder(t, {
    data: { assets: { save: 'mine' }, identity: '11111111-2222-4333-8444-555555555555\n', 'config.yml': '# mine' },
    foreign: { identity: '99999999-2222-4333-8444-555555555555\n' }
  })
  const dataDir = join(folder, 'data')
  const kept = join(dataDir, 'backups', 'before-upgrade')
  await mkdir(kept, { recursive: true })
  for (const day of ['01', '02', '03']) await writeFile(join(kept, `svc-202601${day}T000000Z.tar.gz`), '')
  const { log, lines } = createLog()
  t.equal((await migrateDatabase(features, { config: configOf(dataDir), databaseUrl: url, log })).at(-1), LATER.name)
  const [, , newest = ''] = await readdir(kept)
  t.same(await readdir(kept), ['svc-20260102T000000Z.tar.gz', 'svc-20260103T000000Z.tar.gz', newest])
  t.match(lines.join(''), 'the database was backed up')
  t.same(await migrateDatabase(features, { config: configOf(dataDir), databaseUrl: url, log }), [], 'nothing to do')
  t.equal((await readdir(kept)).length, 3)

  const archive = join(kept, newest)
  const { manifest } = await readArchive(archive, {})
  t.match(manifest, { holds: 'database', secrets: 'left out', migrations: [FIRST] })
  await ask(url, "update users set username = 'ruined' where id = 1")
  const restore = (dataDir: string) => restoreBackup({
    path: archive,
    dataDir,
    environment: { SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: url },
    loadConfig: features.loadConfig,
    withoutSecrets: false,
    formerPrefix: 'before-restore',
    continuesWork: false,
    signal: new AbortController().signal,
    report: () => undefined
  })
  await t.rejects(restore(join(folder, 'foreign')), { constructor: StartError, message: /contains only a database/ })
  const { formerDatabase: keptDatabase, formerFolder: keptFiles } = await restore(dataDir)
  t.same(listLost(before, await readContent(url)), [])
  t.equal(keptFiles, null)
  t.same((await readdir(dataDir)).sort(), ['assets', 'backups', 'config.yml', 'identity', 'run', 'secret.key'])
  await ask(url, `drop database ${keptDatabase ?? ''}`)
})

t.test('a new database, or one with backups off, is not backed up', async (t) => {
  const dataDir = makeFolder(t)
  const { log } = createLog()
  await migrateDatabase(features, { config: configOf(dataDir), databaseUrl: await createTestDatabase(t, 'template0'), log })
  const config = configOf(dataDir, { SVC_BACKUP_BEFORE_UPGRADE: 'false' })
  t.ok((await migrateDatabase(features, { config, databaseUrl: await createFirst(t), log })).length > 0)
  t.notOk((await readdir(dataDir)).includes('backups'))
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
const [EXPAND, NEXT, CONTRACT] = ['20270101000000-titles', '20270201000000-other', '20270301000000-contract-20270101000000-former-names']

t.test('a release works with later migrations, except with those that drop what it uses', async (t) => {
  const executed = ['1', EXPAND, NEXT, CONTRACT]
  t.equal(findUnusable(executed, listNames('1', EXPAND, NEXT, CONTRACT)), undefined, 'the release itself')
  t.equal(findUnusable(executed, listNames('1', EXPAND)), undefined, 'the release that expanded')
  t.equal(findUnusable(['1', EXPAND], listNames('1')), undefined, 'the release before, while the schema is expanded')
  t.equal(findUnusable(executed, listNames('1')), CONTRACT, 'the release before, once it is contracted')
  t.equal(findUnusable(['20260101000000-preview', EXPAND], listNames(EXPAND)), '20260101000000-preview', 'a preview')
})

interface Column { is_required: boolean, type: string }

/** Reads the columns of all tables. A value is required if an insert without it fails. */
async function readColumns (url: string): Promise<Map<string, Column>> {
  const rows = await ask<Column & { name: string }>(url, `select table_name || '.' || column_name as name, udt_name as type,
    is_nullable = 'NO' and column_default is null and is_identity = 'NO' as is_required
    from information_schema.columns where table_schema = 'public' and table_name <> 'migrations'`)
  return new Map(rows.map(({ name, ...column }) => [name, column]))
}

/** Lists the changes that the release before cannot work with. */
function listContractions (before: Map<string, Column>, after: Map<string, Column>): string[] {
  const tableOf = (name: string) => name.split('.')[0]
  const tables = new Set([...before.keys()].map(tableOf))
  const changed = [...before].flatMap(([name, column]) => {
    const now = after.get(name)
    if (now === undefined) return [`${name} is gone`]
    if (now.type !== column.type) return [`${name} was ${column.type}`]
    return now.is_required && !column.is_required ? [`${name} is required`] : []
  })
  const added = [...after].filter(([name, { is_required: isRequired }]) =>
    isRequired && !before.has(name) && tables.has(tableOf(name)))
  return [...changed, ...added.map(([name]) => `${name} is required`)]
}

t.test('only a contracting migration takes something from the former release', async (t) => {
  const url = await createTestDatabase(t, 'template0')
  let before = new Map<string, Column>()
  for (const release of listReleases()) {
    await migrateTo(url, release)
    const after = await readColumns(url)
    if (readContract(release) === null) t.same(listContractions(before, after), [], release)
    before = after
  }
  await ask(url, 'alter table roms drop column name, add column must int not null; alter table users alter column email set not null; ' +
    'alter table netplay_rooms alter column name type varchar')
  t.same(listContractions(before, await readColumns(url)).sort(),
    ['netplay_rooms.name was text', 'roms.must is required', 'roms.name is gone', 'users.email is required'])
})

t.test('a running host that is too old for the schema answers 503 and closes', async (t) => {
  const url = await createTestDatabase(t)
  const tables = await features.loadTables()
  const start = async (migrations: typeof tables.migrations, close: () => void) => {
    const app = fastify()
    await app.register(errorHandler)
    await app.register(database, { url, poolSize: 1, entities: [], migrations })
    await app.register(workers, { url, role: 'web', isSupervised: false, host: { id: createHostId(), address: null } })
    await app.register(watchSchema, { migrations, noticeMs: 1, close })
    app.get('/former', async () => (await app.db.query('select later_region from firmware')).rows)
    t.teardown(() => app.close())
    await app.ready()
    return app
  }
  const closed = Promise.withResolvers<void>()
  const old = await start(tables.migrations, closed.resolve)
  const expand = { ...LATER, name: EXPAND }
  const later = { url, poolSize: 1, entities: [], migrations: [...tables.migrations, expand] }
  await migrate(later)
  const between = await start(later.migrations, () => { t.fail('a host that knows the expanding migration closes') })
  t.equal(old.findSchemaProblem(), null)
  t.equal((await old.inject('/former')).statusCode, 200)

  const contract = {
    name: CONTRACT,
    class: class extends Migration {
      override up (): void { this.addSql('alter table firmware drop column later_region') }
    }
  }
  await migrate({ ...later, migrations: [...later.migrations, contract] })
  await closed.promise
  t.match(old.findSchemaProblem(), /20270301000000-contract-.*upgrade this host/)
  const answer = await old.inject('/former')
  t.match([answer.statusCode, answer.headers['retry-after']], [503, '10'])
  t.equal(between.findSchemaProblem(), null)
  await t.rejects(start(tables.migrations, () => {}), /Start that release/)
})
