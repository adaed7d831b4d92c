import { cpSync, readdirSync, rmSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { migrate } from '../../../core/database/database.ts'
import { StartError } from '../../../core/errors.ts'
import { startEmbeddedPostgres } from '../../../core/postgres/embedded.ts'
import { readArchive } from '../../../plugins/backup/archive/read-archive.ts'
import { dropUnusedParts } from '../../../plugins/backup/prune-parts.ts'
import { migrations } from '../../../plugins/migrations.ts'
import { runSvc, settings } from '../../e2e/server.ts'
import { makeFolder } from '../../folder.ts'
import { createTestDatabase } from '../../support.ts'
import { until } from '../../until.ts'
import { LATER, addLater } from '../migrations/support.ts'
import { KEY, PASSPHRASE, holds, query, readAll, restore, saves, startBackup } from './backup-support.ts'

const { test, app, config, back, archive } = await startBackup(t)

t.test('a backup reports files that were deleted meanwhile, and contains the rest', async (t) => {
  const folder = makeFolder(t)
  const assets = join(folder, 'data', 'assets')
  cpSync(join(config.data_dir, 'assets'), assets, { recursive: true })
  let isFirst = true
  const result = await back(join(folder, 'b.tar.gz'), {
    config: { ...config, data_dir: join(folder, 'data') },
    report ({ phase, files }) {
      if (phase !== 'files' || files === 0 || !isFirst) return
      isFirst = false
      for (const entry of readdirSync(assets, { recursive: true, withFileTypes: true })) {
        if (entry.isFile()) rmSync(join(entry.parentPath, entry.name))
      }
    }
  })
  t.match(result, { files: 1, gone: 2 })
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
  // The three saves of the database.
  cpSync(join(config.data_dir, 'assets'), join(dataDir, 'assets'), { recursive: true })
  const incremental = (name: string) =>
    back(join(own, name), { config: { ...config, data_dir: dataDir }, isIncremental: true })
  t.match(await incremental('first.tar.gz'), { files: 7, bytes: 3_270_009, tables_tried: true })
  const first = await listParts(own)
  t.equal(first.size, 6)
  await writeFile(join(dataDir, 'assets', 'a'), 'three')
  t.match(await incremental('second.tar.gz'), { files: 7 })
  const second = await listParts(own)
  t.equal(second.size, 7)
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
  const partsBefore = (await listParts(own)).size
  t.equal(await dropUnusedParts(own), 'mine.tar.gz', 'nobody knows what that one needs')
  t.equal((await listParts(own)).size, partsBefore)
  await rm(join(own, 'mine.tar.gz'))
  await rm(join(own, 'first.tar.gz'))
  t.equal(await dropUnusedParts(own), null)
  t.equal((await listParts(own)).size, partsBefore - 1)
  t.match(await readArchive(join(own, 'second.tar.gz'), {}), { ending: { files: 7 } })
  const [any = ''] = [...(await listParts(own)).keys()]
  await writeFile(join(own, 'svc-parts', any.slice(0, 2), any), gzipSync('another content'))
  await t.rejects(readArchive(join(own, 'second.tar.gz'), {}), { constructor: StartError, message: /not a complete backup: the content of .* is damaged/ })
  await rm(join(own, 'svc-parts'), { recursive: true })
  await t.rejects(readArchive(join(own, 'second.tar.gz'), {}), { constructor: StartError, message: /is missing in .*svc-parts, the folder beside this file/ })
})

t.test('a restore into an external database keeps the former one under another name', async (t) => {
  const url = await createTestDatabase(t, 'template0')
  await query(url, 'create table former (x int)')
  const dataDir = makeFolder(t)
  await back(archive, { passphrase: PASSPHRASE })
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

t.test('a restore sends no notification again and continues no task', async (t) => {
  const url = await createTestDatabase(t, 'template0')
  // A channel that is off, so that this server does not send the delivery.
  await query(test.databaseUrl, `with c as (insert into notification_channels (user_id, type, name, enabled, sealed)
      select min(id), 'webhook', 'phone', false, 'x' from users returning id)
    insert into channel_deliveries (channel_id, notification) select id, '{}' from c`)
  const folder = makeFolder(t, { data: {} })
  const own = join(folder, 'own.tar.gz')
  await back(own, { passphrase: PASSPHRASE })
  const { formerDatabase } = await restore(own, join(folder, 'data'), { SVC_DATABASE_URL: url })
  t.same(await query(url, 'select name from notification_channels'), [{ name: 'phone' }])
  t.same(await query(url, 'select 1 from channel_deliveries'), [])
  t.same(await query(url, "select 1 from tasks where status in ('queued', 'started')"), [])
  await query(test.databaseUrl, `drop database ${formerDatabase ?? ''}`)
  await query(test.databaseUrl, 'delete from notification_channels')
})

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

async function runTask (): Promise<{ status: string, meta: { backup: { file: string } } }> {
  const asked = await app.inject({ method: 'POST', url: '/api/tasks/run/backup', headers: test.admin })
  const { task_id: id } = asked.json<{ task_id: string }>()
  return await until(async () => {
    const found = (await app.inject({ url: `/api/tasks/${id}`, headers: test.admin })).json<{ status: string, meta: { backup: { file: string } } }>()
    return ['finished', 'failed'].includes(found.status) && found
  }, 'the end of the backup')
}

t.test('the task makes backups and keeps the newest few', async (t) => {
  const kept = join(config.data_dir, 'backups')
  await mkdir(kept, { recursive: true })
  for (const day of ['01', '02', '03']) await writeFile(join(kept, `svc-202601${day}T000000Z.tar.gz`), '')
  await writeFile(join(kept, 'mine.tar.gz'), '')
  const task = await runTask()
  t.match(task, { status: 'finished', meta: { backup: { tables_tried: true, files: 4, deleted: ['svc-20260101T000000Z.tar.gz', 'svc-20260102T000000Z.tar.gz'] } } })
  const names = ['mine.tar.gz', 'svc-20260103T000000Z.tar.gz', task.meta.backup.file]
  t.same((await readdir(kept)).sort(), names)

  const [row] = await query<{ disk_path: string }>(test.databaseUrl, 'select disk_path from assets limit 1')
  const path = join(config.data_dir, 'assets', row?.disk_path ?? '')
  await rename(path, `${path}.away`)
  const partial = await runTask()
  const byHand = await runSvc(t, ['backup'], settings(config.data_dir, {
    SVC_DATABASE_URL: test.databaseUrl, SVC_BACKUP_PASSPHRASE: PASSPHRASE, SVC_BACKUP_DIR: makeFolder(t)
  })).ended
  t.match(byHand, { code: 0, output: /-incomplete\.tar\.gz: / })
  await rename(`${path}.away`, path)
  t.match(partial, { status: 'finished', meta: { backup: { file: /^svc-\d+T\d+Z-incomplete\.tar\.gz$/, lost: 1, deleted: [] } } })
  t.same((await readdir(kept)).sort(), [...names, partial.meta.backup.file])
})

t.test('a backup restored into a new data directory is the same server', async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const own = join(makeFolder(t), 'own.tar.gz')
  await back(own, { passphrase: PASSPHRASE })
  t.match(await runSvc(t, ['restore', own], settings(dataDir, { SVC_BACKUP_PASSPHRASE: PASSPHRASE })).ended,
    { code: 0, output: /is as it was on / })
  const server = await startEmbeddedPostgres({ dataDir: join(dataDir, 'db'), log: () => {} })
  t.teardown(() => server.stop())
  t.same(await readAll(server.url), await readAll(test.databaseUrl))
  for (const content of saves.values()) t.ok(await holds(dataDir, content))
  t.equal(await readFile(join(dataDir, 'secret.key'), 'utf8'), `${KEY}\n`)
})
