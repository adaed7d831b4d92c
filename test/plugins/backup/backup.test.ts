import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import pg from 'pg'
import t from 'tap'
import { migrate } from '../../../core/database/database.ts'
import { ApiError, StartError } from '../../../core/errors.ts'
import { startEmbeddedPostgres } from '../../../core/postgres/embedded.ts'
import { readManifest } from '../../../plugins/backup/archive/manifest.ts'
import { readArchive } from '../../../plugins/backup/archive/read-archive.ts'
import { type BackupJob, createBackup } from '../../../plugins/backup/write-backup.ts'
import { newDirOf } from '../../../plugins/backup/restore/journal.ts'
import { restoreBackup } from '../../../plugins/backup/restore/restore-backup.ts'
import { decideSwap, endSwap } from '../../../plugins/backup/restore/swap-data.ts'
import { openWith } from '../../../plugins/backup/seal-secrets.ts'
import { dropUnusedParts } from '../../../plugins/backup/prune-parts.ts'
import { features } from '../../../plugins/index.ts'
import { migrations } from '../../../plugins/migrations.ts'
import { runSvc, settings } from '../../e2e/server.ts'
import { makeFolder } from '../../folder.ts'
import { buildTestApp, createTestDatabase } from '../../support.ts'
import { until } from '../../until.ts'
import { createClient } from '../assets/support.ts'
import { LATER, addLater } from '../migrations/support.ts'
import { addRom } from '../roms/support.ts'

const PASSPHRASE = 'correct horse battery'
const KEY = 'a key for tests only'
const test = await buildTestApp(t, { worker: true, env: { SVC_BACKUP_KEEP: '2', SVC_BACKUP_PASSPHRASE: PASSPHRASE } })
const { app, config } = test
const places = join(config.data_dir, '..', 'places')
await mkdir(places)
const saves = new Map<number, Buffer>()
const client = createClient(test, await test.createUser('alice'))
const rom = await addRom(test, { fs_name: 'Game.sfc' })
for (const name of ['a.srm', 'b.srm', 'c.srm']) {
  const content = randomBytes(90_000)
  saves.set((await client.save({ rom_id: rom }, name, content)).id, content)
}
const plugin = join(config.data_dir, 'plugins', 'node_modules', 'svc-exporter-note')
await mkdir(join(plugin, 'incoming'), { recursive: true })
await writeFile(join(plugin, 'incoming', 'index.js'), 'export default 1')
await writeFile(join(config.data_dir, 'config.yml'), '# mine\nscan:\n  priority:\n    region: [eu]\n')

const quiet = { signal: new AbortController().signal, report: () => undefined }
const back = (path: string, more: Partial<BackupJob> = {}) =>
  createBackup({ config, databaseUrl: test.databaseUrl, path, isIncremental: false, holds: 'everything', passphrase: null, ...quiet, ...more })
const restore = (path: string, dataDir: string, more: Record<string, string> = {}) => restoreBackup({
  path,
  dataDir,
  environment: { SVC_DATA_DIR: dataDir, SVC_BACKUP_PASSPHRASE: PASSPHRASE, ...more },
  loadConfig: features.loadConfig,
  withoutSecrets: false,
  formerPrefix: 'before-restore',
  continuesWork: false,
  ...quiet
})

async function query<Row extends object> (url: string, text: string): Promise<Row[]> {
  const connection = new pg.Client({ connectionString: url })
  await connection.connect()
  try {
    return (await connection.query<Row>(text)).rows
  } finally {
    await connection.end()
  }
}

/** Reads every row of tables that only people change. */
async function readAll (url: string): Promise<unknown[]> {
  const tables = ['users', 'permission_groups', 'permission_grants', 'platforms', 'roms', 'rom_files', 'assets']
  return await Promise.all(tables.map((name) => query(url, `select to_jsonb(x) as row from ${name} x order by to_jsonb(x)::text`)))
}

const archive = join(places, 'one.tar.gz')
const made = await back(archive, { passphrase: PASSPHRASE })

t.test('a backup is tested in a database of its own, which is deleted afterwards', async (t) => {
  t.match(made, { tables_tried: true, files: 4, gone: 0, rows: { assets: 3, users: 2 } })
  t.same(await query(test.databaseUrl, "select datname from pg_database where datname like 'svc_backup_check_%'"), [])
  t.same((await readdir(places)).filter((name) => name.endsWith('.part')), [])
})

t.test('a backup contains secrets only encrypted by the passphrase', async (t) => {
  const secrets = new Map<string, Buffer>()
  await readArchive(archive, { secret: (name, content) => { secrets.set(name, content) } })
  t.same([...secrets.keys()].sort(), ['config.yml', 'secret.key'])
  t.equal((await openWith(PASSPHRASE, secrets.get('secret.key') ?? Buffer.alloc(0)))?.toString(), `${KEY}\n`)
  t.equal(await openWith('another passphrase', secrets.get('secret.key') ?? Buffer.alloc(0)), null)
  t.equal(await openWith(PASSPHRASE, (secrets.get('secret.key') ?? Buffer.alloc(0)).subarray(0, 40)), null)
})

t.test('a backup reports files that were deleted meanwhile, and contains the rest', async (t) => {
  const folder = makeFolder(t, { data: { assets: { users: { x: { saves: { a: '1', b: '2', c: '3' } } } } } })
  const saved = join(folder, 'data', 'assets', 'users', 'x', 'saves')
  let isFirst = true
  const result = await back(join(folder, 'b.tar.gz'), {
    config: { ...config, data_dir: join(folder, 'data') },
    report ({ phase, files }) {
      if (phase !== 'files' || files === 0 || !isFirst) return
      isFirst = false
      for (const name of readdirSync(saved)) rmSync(join(saved, name))
    }
  })
  t.match(result, { files: 1, gone: 2 })
})

t.test('a backup without room is refused before it begins, with the needed space', async (t) => {
  const folder = makeFolder(t, { data: { assets: { users: { x: { saves: { large: '' } } } } } })
  // A sparse file of 8 TiB without content.
  await truncate(join(folder, 'data', 'assets', 'users', 'x', 'saves', 'large'), 2 ** 43)
  await t.rejects(back(join(folder, 'b.tar.gz'), { config: { ...config, data_dir: join(folder, 'data') } }),
    { constructor: ApiError, code: 'NO_FREE_SPACE', message: /^The backup needs about 8192\.\d GiB in .* SVC_BACKUP_DIR / })
  t.same(await readdir(folder), ['data'])
})

/** Lists the names of the contents beside archives, with their inodes. */
async function listParts (folder: string): Promise<Map<string, number>> {
  const parts = new Map<string, number>()
  for (const entry of await readdir(join(folder, 'svc-parts'), { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) parts.set(entry.name, (await stat(join(entry.parentPath, entry.name))).ino)
  }
  return parts
}

t.test('an incremental backup writes no content twice, and needs the folder beside it', async (t) => {
  const folder = makeFolder(t, { data: { assets: { a: 'one', b: 'two', c: 'two', large: 'x'.repeat(3_000_000) }, 'config.yml': '' }, places: {} })
  const [dataDir, own] = [join(folder, 'data'), join(folder, 'places')]
  const incremental = (name: string) =>
    back(join(own, name), { config: { ...config, data_dir: dataDir }, isIncremental: true })
  t.match(await incremental('first.tar.gz'), { files: 4, bytes: 3_000_009, tables_tried: true })
  const first = await listParts(own)
  t.equal(first.size, 3)
  await writeFile(join(dataDir, 'assets', 'a'), 'three')
  t.match(await incremental('second.tar.gz'), { files: 4 })
  const second = await listParts(own)
  t.equal(second.size, 4)
  t.same([...first].filter(([name, inode]) => second.get(name) !== inode), [])

  const url = await createTestDatabase(t, 'template0')
  const target = join(folder, 'restored')
  await mkdir(target)
  const { formerDatabase: keptDatabase } = await restore(join(own, 'first.tar.gz'), target, { SVC_DATABASE_URL: url })
  await query(test.databaseUrl, `drop database ${keptDatabase ?? ''}`)
  for (const [name, content] of [['a', 'one'], ['b', 'two'], ['c', 'two'], ['large', 'x'.repeat(3_000_000)]] as const) {
    t.equal(await readFile(join(target, 'assets', name), 'utf8'), content)
  }

  const old = new Date(Date.now() - 7 * 86_400_000)
  for (const name of second.keys()) await utimes(join(own, 'svc-parts', name.slice(0, 2), name), old, old)
  await writeFile(join(own, 'mine.tar.gz'), 'no backup')
  t.equal(await dropUnusedParts(own), 0, 'nobody knows what that one needs')
  await rm(join(own, 'mine.tar.gz'))
  await rm(join(own, 'first.tar.gz'))
  t.equal(await dropUnusedParts(own), 1)
  t.match(await readArchive(join(own, 'second.tar.gz'), {}), { ending: { files: 4 } })
  const [any = ''] = [...(await listParts(own)).keys()]
  await writeFile(join(own, 'svc-parts', any.slice(0, 2), any), gzipSync('another content'))
  await t.rejects(readArchive(join(own, 'second.tar.gz'), {}), { constructor: StartError, message: /not a complete backup: the content of .* is damaged/ })
  await rm(join(own, 'svc-parts'), { recursive: true })
  await t.rejects(readArchive(join(own, 'second.tar.gz'), {}), { constructor: StartError, message: /is missing in .*svc-parts, the folder beside this file/ })
})

t.test('a stopped backup leaves no file', async (t) => {
  const folder = makeFolder(t)
  const stop = new AbortController()
  await t.rejects(back(join(folder, 'b.tar.gz'), { signal: stop.signal, report: () => { stop.abort() } }))
  t.same(await readdir(folder), [])
  t.same(await query(test.databaseUrl, "select datname from pg_database where datname like 'svc_backup_check_%'"), [])
})

t.test('an archive is refused if a byte is changed, or if it is cut anywhere', async (t) => {
  const whole = await readArchive(archive, {})
  const bytes = await readFile(archive)
  const path = join(makeFolder(t), 'damaged.tar.gz')
  // The byte of gzip's header that names the operating system has no effect.
  const place = fc.integer({ min: 10, max: bytes.length - 1 })
  await fc.assert(fc.asyncProperty(place, fc.integer({ min: 1, max: 255 }), async (at, change) => {
    const damaged = Buffer.from(bytes)
    damaged[at] = (damaged[at] ?? 0) ^ change
    await writeFile(path, damaged)
    const read = await readArchive(path, {}).catch((err: unknown) => err)
    // Some bits at the end of the deflate stream have no effect.
    if (read instanceof StartError) t.match(read.message, /is not a complete backup: /)
    else t.same(read, whole)
  }), { numRuns: 40 })
  await fc.assert(fc.asyncProperty(fc.integer({ min: 0, max: bytes.length - 1 }), async (length) => {
    await writeFile(path, bytes.subarray(0, length))
    await t.rejects(readArchive(path, {}), { constructor: StartError, message: /is not a complete backup: / })
  }), { numRuns: 15 })
})

t.test('a backup of a later release is refused with the name of that release', async (t) => {
  const later = JSON.stringify({ format: 'svc-backup', version: 2, svc: '9.1.0', holdings: [] })
  t.throws(() => readManifest(later), { message: 'it was made by a later release (svc 9.1.0); use that release' })
  t.throws(() => readManifest(later.replace('version":2', 'version":1')), { message: 'its manifest is not the manifest of a backup' })
})

t.test('an unusable backup is refused with the reason, and changes nothing', async (t) => {
  const folder = makeFolder(t, { data: { 'config.yml': '# as it was' }, text: 'no archive' })
  const dataDir = join(folder, 'data')
  const list = async () => (await readdir(dataDir)).filter((name) => name !== 'run')
  for (const [path, passphrase, message] of [
    [join(folder, 'text'), PASSPHRASE, /not an archive/],
    [join(folder, 'none'), PASSPHRASE, /^There is no file .*none\. Give the path of a backup/],
    [archive, '', /are encrypted\. Set SVC_BACKUP_PASSPHRASE/],
    [archive, 'not that one', /is not the passphrase of the backup/]
  ] as const) {
    await t.rejects(restore(path, dataDir, { SVC_BACKUP_PASSPHRASE: passphrase }), { constructor: StartError, message })
  }
  t.same(await list(), ['config.yml'])
  t.equal(await readFile(join(dataDir, 'config.yml'), 'utf8'), '# as it was')
})

t.test('a restore into an external database keeps the former one under another name', async (t) => {
  const url = await createTestDatabase(t, 'template0')
  await query(url, 'create table former (x int)')
  const dataDir = makeFolder(t)
  const { formerDatabase: keptDatabase } = await restore(archive, dataDir, { SVC_DATABASE_URL: url })
  t.same(await readAll(url), await readAll(test.databaseUrl))
  const kept = new URL(url)
  kept.pathname = `/${keptDatabase ?? ''}`
  t.same(await query(kept.href, 'select * from former'), [])
  await query(test.databaseUrl, `drop database ${keptDatabase ?? ''}`)
  for (const content of saves.values()) t.ok(await holds(dataDir, content))
  t.equal(await readFile(join(dataDir, 'plugins', 'node_modules', 'svc-exporter-note', 'incoming', 'index.js'), 'utf8'), 'export default 1')
  t.equal(await readFile(join(dataDir, 'secret.key'), 'utf8'), `${KEY}\n`)
  t.match(await readFile(join(dataDir, 'config.yml'), 'utf8'), /^# mine/)
  const [id] = await query<{ id: string }>(url, "insert into users (username) values ('later') returning id")
  t.ok(Number(id?.id) > 2, 'new ids go on after the old ones')
})

t.test('a backup restored into a new data directory is the same server', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  t.match(await runSvc(t, ['restore', archive], settings(dataDir, { SVC_BACKUP_PASSPHRASE: PASSPHRASE })).ended,
    { code: 0, output: /is as it was on / })
  const server = await startEmbeddedPostgres({ dataDir: join(dataDir, 'db'), log: () => {} })
  t.teardown(() => server.stop())
  t.same(await readAll(server.url), await readAll(test.databaseUrl))
  for (const content of saves.values()) t.ok(await holds(dataDir, content))
  t.equal(await readFile(join(dataDir, 'secret.key'), 'utf8'), `${KEY}\n`)
})

/** True if the uploads contain a file with this content. */
async function holds (dataDir: string, content: Buffer): Promise<boolean> {
  const hash = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex')
  for (const entry of await readdir(join(dataDir, 'assets'), { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && hash(await readFile(join(entry.parentPath, entry.name))) === hash(content)) return true
  }
  return false
}

t.test('a backup of an older release is migrated to the schema of this one', async (t) => {
  const old = await createTestDatabase(t, 'template0')
  await migrate({ url: old, poolSize: 1, entities: [], migrations })
  await query(old, "insert into users (username) values ('grandma')")
  const folder = makeFolder(t)
  const path = join(folder, 'old.tar.gz')
  await back(path, { databaseUrl: old })
  addLater(t)
  const url = await createTestDatabase(t, 'template0')
  const { migrated, formerDatabase: keptDatabase } = await restore(path, join(folder, 'data'), { SVC_DATABASE_URL: url })
  t.same(migrated, [LATER.name])
  t.match(await query(url, 'select username from users'), [{ username: 'grandma' }])
  await query(test.databaseUrl, `drop database ${keptDatabase ?? ''}`)
})

t.test('the next command completes a restore that was interrupted during its swap', async (t) => {
  const names = ['assets', 'config.yml', 'identity']
  for (const moved of [0, 1, 2, 3]) {
    const dataDir = makeFolder(t, { assets: { old: '' }, 'config.yml': 'old', identity: 'old' })
    await mkdir(join(newDirOf(dataDir), 'assets'), { recursive: true })
    await writeFile(join(newDirOf(dataDir), 'assets', 'new'), '')
    for (const name of names.slice(1)) await writeFile(join(newDirOf(dataDir), name), 'new')
    await decideSwap(dataDir, { names, kept: 'before', database: null })
    await mkdir(join(dataDir, 'before'))
    // Simulate a kill after some entries were swapped, and the next one was only moved away.
    for (const name of names.slice(0, moved + 1)) await rename(join(dataDir, name), join(dataDir, 'before', name))
    for (const name of names.slice(0, moved)) await rename(join(newDirOf(dataDir), name), join(dataDir, name))
    await endSwap(dataDir)
    t.same((await readdir(dataDir)).sort(), ['assets', 'before', 'config.yml', 'identity', 'run'])
    t.same(await readdir(join(dataDir, 'assets')), ['new'])
    t.equal(await readFile(join(dataDir, 'identity'), 'utf8'), 'new')
    t.same(await readdir(join(dataDir, 'before', 'assets')), ['old'])
    t.equal(await readFile(join(dataDir, 'before', 'config.yml'), 'utf8'), 'old')
  }
})

t.test('the task makes backups and keeps the newest few', async (t) => {
  const kept = join(config.data_dir, 'backups')
  await mkdir(kept, { recursive: true })
  for (const day of ['01', '02', '03']) await writeFile(join(kept, `svc-202601${day}T000000Z.tar.gz`), '')
  await writeFile(join(kept, 'mine.tar.gz'), '')
  const asked = await app.inject({ method: 'POST', url: '/api/tasks/run/backup', headers: test.admin })
  const { task_id: id } = asked.json<{ task_id: string }>()
  const task = await until(async () => {
    const found = (await app.inject({ url: `/api/tasks/${id}`, headers: test.admin })).json<{ status: string, meta: { backup: { file: string } } }>()
    return ['finished', 'failed'].includes(found.status) && found
  }, 'the end of the backup')
  t.match(task, { status: 'finished', meta: { backup: { tables_tried: true, files: 4, deleted: ['svc-20260101T000000Z.tar.gz', 'svc-20260102T000000Z.tar.gz'] } } })
  t.same((await readdir(kept)).sort(), ['mine.tar.gz', 'svc-20260103T000000Z.tar.gz', task.meta.backup.file])
})
