import { cp, mkdir, readFile, readdir, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { pino } from 'pino'
import t from 'tap'
import { ApiError, StartError } from '../../../core/errors.ts'
import { createFsStore } from '../../../core/store/fs-store.ts'
import { MANIFEST, PARTS, newManifest, readManifest } from '../../../plugins/backup/archive/manifest.ts'
import { readArchive } from '../../../plugins/backup/archive/read-archive.ts'
import { writeArchive } from '../../../plugins/backup/archive/write-archive.ts'
import { newDirOf } from '../../../plugins/backup/restore/journal.ts'
import { commitSwap, resumeInterruptedSwap } from '../../../plugins/backup/restore/swap-data.ts'
import { deleteAbandonedCheck } from '../../../plugins/backup/abandoned-check.ts'
import { deleteOld } from '../../../plugins/backup/backup-folder.ts'
import { listOwnFiles } from '../../../plugins/backup/files.ts'
import { checkName, claimBackup, createBeside, readName, withClient } from '../../../plugins/backup/rows.ts'
import { openWith } from '../../../plugins/backup/seal-secrets.ts'
import { makeFolder } from '../../folder.ts'
import { until } from '../../until.ts'
import { KEY, PASSPHRASE, query, restore, startBackup } from './backup-support.ts'

const { test, config, places, back, archive } = await startBackup(t)

const made = await back(archive, { passphrase: PASSPHRASE })

/** Lists the databases in which backups of this one are tested. */
const listChecks = () => query(test.databaseUrl,
  "select datname from pg_database where datname like 'svc_backup_check_' || current_database() || '%'")

t.test('a backup is tested in a database of its own, which is deleted afterwards', async (t) => {
  t.match(made, { tables_tried: true, files: 4, gone: 0, rows: { assets: 3, users: 2 } })
  t.notOk('shared_settings' in made.rows, 'hosts have these settings in config.yml')
  t.same(await listChecks(), [])
  t.same((await readdir(places)).filter((name) => name.endsWith('.part')), [])
})

t.test('a start deletes the test database of a killed backup, but not of a running one', async (t) => {
  const { databaseUrl } = test
  const lines: object[] = []
  const start = () => deleteAbandonedCheck({ databaseUrl, log: pino({ level: 'info' }, { write (line) { lines.push(JSON.parse(line)) } }) })
  await withClient(databaseUrl, async (client) => {
    await createBeside(client, databaseUrl, checkName(await readName(client)))
    await claimBackup(client)
    await start()
    t.equal((await listChecks()).length, 1)
  })
  await until(async () => {
    await start()
    return (await listChecks()).length === 0
  }, 'the database is gone after the lock')
  t.same(lines, [])
})

t.test('a backup is refused while another one of the database runs', async (t) => {
  const folder = makeFolder(t, { 'b.tar.gz.part': 'of the running one' })
  await withClient(test.databaseUrl, async (client) => {
    await claimBackup(client)
    await t.rejects(back(join(folder, 'b.tar.gz')), { constructor: ApiError, code: 'CONFLICT' })
  })
  t.same(await readdir(folder), ['b.tar.gz.part'])
})

t.test('a backup contains secrets only encrypted by the passphrase', async (t) => {
  const secrets = new Map<string, Buffer>()
  await readArchive(archive, { secret: (name, content) => { secrets.set(name, content) } })
  t.same([...secrets.keys()].sort(), ['config.yml', 'secret.key'])
  t.equal((await openWith(PASSPHRASE, secrets.get('secret.key') ?? Buffer.alloc(0)))?.toString(), `${KEY}\n`)
  t.equal(await openWith('another passphrase', secrets.get('secret.key') ?? Buffer.alloc(0)), null)
  t.equal(await openWith(PASSPHRASE, (secrets.get('secret.key') ?? Buffer.alloc(0)).subarray(0, 40)), null)
})

t.test('a backup without room is refused before it begins, with the needed space', async (t) => {
  const folder = makeFolder(t, { data: { assets: { users: { x: { saves: { large: '' } } } } } })
  // A sparse file of 8 TiB without content.
  await truncate(join(folder, 'data', 'assets', 'users', 'x', 'saves', 'large'), 2 ** 43)
  await t.rejects(back(join(folder, 'b.tar.gz'), { config: { ...config, data_dir: join(folder, 'data') } }),
    { constructor: ApiError, code: 'NO_FREE_SPACE', message: /^The backup needs about 8192\.\d GiB in .* SVC_BACKUP_DIR / })
  t.same(await readdir(folder), ['data'])
})

t.test('a backup fails while none of the uploads is on the disk, and older ones stay', async (t) => {
  const folder = makeFolder(t, { data: { assets: {} }, 'older.tar.gz': '' })
  await t.rejects(back(join(folder, 'b.tar.gz'), { config: { ...config, data_dir: join(folder, 'data') } }), {
    constructor: ApiError, code: 'UNAVAILABLE', message: /^None of the 3 saves, .* is in .*assets, as if its disk were not mounted\. Mount the disk/
  })
  t.same((await readdir(folder)).sort(), ['data', 'older.tar.gz'])
})

t.test('a backup names the uploads of the database that are not on the disk', async (t) => {
  const folder = makeFolder(t)
  await cp(join(config.data_dir, 'assets'), join(folder, 'data', 'assets'), { recursive: true })
  const [row] = await query<{ disk_path: string }>(test.databaseUrl, "select disk_path from assets where file_name like 'b%'")
  const path = `assets/${row?.disk_path ?? ''}`
  await rm(join(folder, 'data', path))
  const result = await back(join(folder, 'b.tar.gz'), { config: { ...config, data_dir: join(folder, 'data') } })
  t.match(result, { files: 2, gone: 1, gone_files: [path] })
})

t.test('saves whose names resemble unfinished uploads are backed up', async (t) => {
  const saves = { incoming: { incoming: { '1f-game.part': '', incoming: { '2f-game.srm': '' } } } }
  const folder = makeFolder(t, {
    assets: {
      incoming: { '1.part': '' },
      users: { x: { incoming: { '2.part': '' }, profile: { '.3.tmp': '', 'a.png': '' }, saves } }
    },
    resources: { collections: { '.incoming': { '4.part': '' }, 1: { cover: { 'big.png': '', '.5.tmp': '' } } } }
  })
  const paths: string[] = []
  for await (const { path } of listOwnFiles(folder, createFsStore(folder))) paths.push(path)
  t.same(paths.sort(), ['assets/users/x/profile/a.png', 'assets/users/x/saves/incoming/incoming/1f-game.part',
    'assets/users/x/saves/incoming/incoming/incoming/2f-game.srm', 'resources/collections/1/cover/big.png'])
})

t.test('a stopped backup leaves no file', async (t) => {
  const folder = makeFolder(t)
  const stop = new AbortController()
  await t.rejects(back(join(folder, 'b.tar.gz'), { signal: stop.signal, report: () => { stop.abort() } }))
  t.same(await readdir(folder), [])
  t.same(await listChecks(), [])
})

t.test('a backup deletes what killed backups left in its folder', async (t) => {
  const folder = makeFolder(t, {
    'svc-20260101T020000Z.tar.gz.part': 'cut off', 'svc-20260101T020000Z.tar.gz': '', 'other.tar.gz.part': 'of a person',
    'svc-20260101T020000Z.tar.gz.copy': 'of an object', 'svc-20260102T010000Z.tar.gz.part': 'of another server'
  })
  const old = new Date(Date.now() - 25 * 60 * 60 * 1_000)
  for (const name of ['svc-20260101T020000Z.tar.gz.part', 'svc-20260101T020000Z.tar.gz.copy', 'other.tar.gz.part']) {
    await utimes(join(folder, name), old, old)
  }
  await back(join(folder, 'svc-20260102T020000Z.tar.gz'), { passphrase: PASSPHRASE })
  t.same((await readdir(folder)).sort(), ['other.tar.gz.part', 'svc-20260101T020000Z.tar.gz', 'svc-20260102T010000Z.tar.gz.part',
    'svc-20260102T020000Z.tar.gz'])
})

t.test('the backup that was just made is kept, whatever the clock said before', async (t) => {
  const nameOf = (day: string) => `svc-${day}T000000Z.tar.gz`
  const [old, newer, later, latest] = ['20260101', '20260102', '20990101', '20990102'].map(nameOf)
  const made = nameOf('20260103')
  const folder = makeFolder(t, Object.fromEntries([old, newer, later, latest, made, 'mine.tar.gz'].map((name) => [name, ''])))
  const deleteOthers = async (keep: number) => {
    const deleted = await deleteOld(join(folder, made), keep)
    return [deleted, (await readdir(folder)).sort()]
  }
  t.same(await deleteOthers(5), [[], ['mine.tar.gz', old, newer, made, later, latest]])
  t.same(await deleteOthers(4), [[later], ['mine.tar.gz', old, newer, made, latest]])
  t.same(await deleteOthers(1), [[latest, old, newer], ['mine.tar.gz', made]])
})

t.test('a backup that lacks uploads replaces only others that lack some', async (t) => {
  const [first, second, third] = ['20260101', '20260102', '20260103'].map((day) => `svc-${day}T000000Z`)
  const names = [`${first}.tar.gz`, `${second}-incomplete.tar.gz`, `${third}-incomplete.tar.gz`]
  const folder = makeFolder(t, Object.fromEntries(names.map((name) => [name, ''])))
  t.same(await deleteOld(join(folder, `${third}-incomplete.tar.gz`), 1), [`${second}-incomplete.tar.gz`])
  const complete = 'svc-20260104T000000Z.tar.gz'
  await writeFile(join(folder, complete), '')
  t.same(await deleteOld(join(folder, complete), 1), [`${first}.tar.gz`, `${third}-incomplete.tar.gz`])
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

t.test('an archive with a damaged reference to a part is refused as damaged', async (t) => {
  const path = join(makeFolder(t), 'damaged.tar.gz')
  const writer = writeArchive(path, new AbortController().signal)
  await writer.buffer(MANIFEST, Buffer.from(JSON.stringify(newManifest({
    svc: '0.1.0', created_at: '', identity: null, migrations: [], postgresql: '17', tables: [], sequences: [], holds: 'everything', secrets: 'left out'
  }))))
  await writer.buffer(`${PARTS}assets/a`, Buffer.from('{"sha256":'))
  await writer.end()
  await t.rejects(readArchive(path, {}), { constructor: StartError, message: /is not a complete backup: its reference to a part cannot be read/ })
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

t.test('the next command completes a restore that was interrupted during its swap', async (t) => {
  const names = ['assets', 'config.yml', 'identity']
  for (const moved of [0, 1, 2, 3]) {
    const dataDir = makeFolder(t, { assets: { old: '' }, 'config.yml': 'old', identity: 'old' })
    await mkdir(join(newDirOf(dataDir), 'assets'), { recursive: true })
    await writeFile(join(newDirOf(dataDir), 'assets', 'new'), '')
    for (const name of names.slice(1)) await writeFile(join(newDirOf(dataDir), name), 'new')
    await commitSwap(dataDir, { names, kept: 'before', database: null })
    await mkdir(join(dataDir, 'before'))
    // Simulate a kill after some entries were swapped, and the next one was only moved away.
    for (const name of names.slice(0, moved + 1)) await rename(join(dataDir, name), join(dataDir, 'before', name))
    for (const name of names.slice(0, moved)) await rename(join(newDirOf(dataDir), name), join(dataDir, name))
    await resumeInterruptedSwap(dataDir)
    t.same((await readdir(dataDir)).sort(), ['assets', 'before', 'config.yml', 'identity', 'run'])
    t.same(await readdir(join(dataDir, 'assets')), ['new'])
    t.equal(await readFile(join(dataDir, 'identity'), 'utf8'), 'new')
    t.same(await readdir(join(dataDir, 'before', 'assets')), ['old'])
    t.equal(await readFile(join(dataDir, 'before', 'config.yml'), 'utf8'), 'old')
  }
})
