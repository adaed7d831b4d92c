import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Migration } from '@mikro-orm/migrations'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import database, { migrate } from '../../../core/database/database.ts'
import { readContract } from '../../../core/database/known-schema.ts'
import { StartError } from '../../../core/errors.ts'
import errorHandler from '../../../core/web/error-handler.ts'
import { createHostId } from '../../../core/process/host.ts'
import watchSchema from '../../../core/jobs/watch-schema.ts'
import workers from '../../../core/jobs/workers.ts'
import { migrateDatabase } from '../../../core/server.ts'
import { readArchive } from '../../../plugins/backup/archive/read-archive.ts'
import { restoreBackup } from '../../../plugins/backup/restore/restore-backup.ts'
import { features } from '../../../plugins/index.ts'
import { makeFolder } from '../../folder.ts'
import { createTestDatabase } from '../../support.ts'
import { LATER, addLater, listLost, listReleases, migrateTo, readContent } from './support.ts'
import { CONTRACT, EXPAND, FIRST, ask, configOf, createLog, createOld } from './upgrades-support.ts'

const first = new URL(await createOld(t, FIRST)).pathname.slice(1)

/** Creates a database of the first release, in a process of a later one. */
async function createFirst (t: Test): Promise<string> {
  addLater(t)
  return await createTestDatabase(t, first)
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
  await ask(url, 'alter table roms drop column summary, add column must int not null; alter table users alter column email set not null; ' +
    'alter table netplay_rooms alter column name type varchar')
  t.same(listContractions(before, await readColumns(url)).sort(),
    ['netplay_rooms.name was text', 'roms.must is required', 'roms.summary is gone', 'users.email is required'])
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

t.test('a new database, or one with backups off, is not backed up', async (t) => {
  const dataDir = makeFolder(t)
  const { log } = createLog()
  await migrateDatabase(features, { config: configOf(dataDir), databaseUrl: await createTestDatabase(t, 'template0'), log })
  const config = configOf(dataDir, { SVC_BACKUP_BEFORE_UPGRADE: 'false' })
  t.ok((await migrateDatabase(features, { config, databaseUrl: await createFirst(t), log })).length > 0)
  t.notOk((await readdir(dataDir)).includes('backups'))
})
