import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import yazl from 'yazl'
import { buffer } from 'node:stream/consumers'
import { createClient, createForm, folderOf, listStored, md5Of, sha1Of, PNG, type AssetItem } from './support.ts'
import { CREDENTIALS, startS3Server } from '../../core/store/s3-server.ts'
import { addRom } from '../roms/support.ts'
import { createRetroArch } from '../webdav/support.ts'
import { sweepIncoming } from '../../../plugins/assets/clean-up/sweep-incoming.ts'
import { createBackup } from '../../../plugins/backup/write-backup.ts'
import { restoreBackup } from '../../../plugins/backup/restore/restore-backup.ts'
import { examineStore } from '../../../plugins/doctor/store.ts'
import { features } from '../../../plugins/index.ts'
import { buildTestApp, createTestDatabase } from '../../support.ts'
import { until } from '../../until.ts'

const MIB = 1024 ** 2
const DAY_MS = 86_400_000
const server = await startS3Server(t)
const env = { SVC_STORE_URL: server.url, AWS_ACCESS_KEY_ID: CREDENTIALS.id, AWS_SECRET_ACCESS_KEY: CREDENTIALS.secret }
const test = await buildTestApp(t, { worker: true, env })
const folder = await mkdtemp(join(tmpdir(), 'svc-second-host-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
/** A second host: another data directory, the same database and the same bucket. */
const second = await buildTestApp({ testdir: () => folder, teardown: t.teardown.bind(t) }, {
  databaseUrl: test.databaseUrl, withoutAdmin: true, env: { ...env, SVC_LIBRARY_DIR: test.libraryDir }
})
let count = 0

async function newUser () {
  const name = `user${++count}`
  const headers = await test.createUser(name)
  const rom = await addRom(test, { fs_name: `Game ${count}.sfc` })
  const userFolder = await folderOf(test, name)
  const keys = () => [...server.objects.keys()].filter((key) => key.includes(userFolder)).sort()
  const clients = { here: createClient(test, headers), there: createClient(second, headers) }
  return { name, headers, rom, keys, folder: userFolder, ...clients }
}

const pathOf = async ({ id }: Pick<AssetItem, 'id'>) =>
  (await test.app.pg.query<{ disk_path: string }>('select disk_path from assets where id = $1', [id])).rows[0]?.disk_path ?? ''

async function runTask (name: string, payload: object = {}): Promise<Record<string, Record<string, number>>> {
  const { task_id: id } = (await test.app.inject({ method: 'POST', url: `/api/tasks/run/${name}`, headers: test.admin, payload }))
    .json<{ task_id: string }>()
  return await until(async () => {
    const { status, meta } = (await test.app.inject({ url: `/api/tasks/${id}`, headers: test.admin }))
      .json<{ status: string, meta: Record<string, Record<string, number>> }>()
    return status === 'finished' ? meta : null
  }, `${name} ends`)
}

t.test('a save that one host received is downloaded from the other', async (t) => {
  const { rom, here, there, keys } = await newUser()
  const save = await here.save({ rom_id: rom, slot: 'a' }, 'Game.srm', 'the content', [{ name: 'screenshotFile', fileName: 'Game.png', content: PNG }])
  t.equal(keys().length, 2, 'the save and its picture')
  t.same((await listStored(test)).filter((path) => !path.startsWith('lost')), [], 'no file stays on the host')
  const url = `/api/saves/${save.id}/content`
  const reply = await there.call('GET', url)
  t.same([reply.statusCode, reply.body, reply.headers.etag, reply.headers['content-length']], [200, 'the content', `"${sha1Of('the content')}"`, '11'])
  const range = await there.call('GET', url, undefined, { range: 'bytes=4-6' })
  t.same([range.statusCode, range.body, range.headers['content-range']], [206, 'con', 'bytes 4-6/11'])
  t.equal((await there.call('GET', url, undefined, { 'if-none-match': String(reply.headers.etag) })).statusCode, 304)
  t.equal((await there.call('GET', url, undefined, { range: 'bytes=20-' })).statusCode, 416)
  const head = await there.call('HEAD', url)
  t.same([head.statusCode, head.body, head.headers['content-length']], [200, '', '11'])
  t.equal((await there.call('GET', save.download_path)).body, 'the content')
})

t.test('a state of many parts is uploaded before the transaction and streamed from there', async (t) => {
  const { rom, here, there, keys } = await newUser()
  const content = randomBytes(9 * MIB)
  const state = await here.state({ rom_id: rom }, 'Game.state', content)
  const reply = await there.call('GET', `/api/states/${state.id}/content`)
  t.ok(reply.rawPayload.equals(content))
  t.ok((await there.call('GET', `/api/states/${state.id}/content`, undefined, { range: 'bytes=-100000' })).rawPayload.equals(content.subarray(-100_000)))
  t.equal(keys().length, 1)
  await until(() => [...server.objects.keys()].every((key) => !key.includes('.staged')), 'the staged object is deleted')
})

t.test('versions of a save are restored on the other host', async (t) => {
  const { rom, here, there, keys } = await newUser()
  const save = await here.save({ rom_id: rom }, 'Game.srm', 'one')
  await there.save({ rom_id: rom }, 'Game.srm', 'two')
  const [version] = await here.versions(save.id)
  t.equal(await there.content(`/api/saves/${save.id}/versions/${version?.id}/content`), 'one')
  await there.call('POST', `/api/saves/${save.id}/versions/${version?.id}/restore`)
  t.equal(await here.content(`/api/saves/${save.id}/content`), 'one')
  t.equal(keys().length, 2)
})

t.test('an upload that is refused leaves no object', async (t) => {
  const { rom, here, keys } = await newUser()
  await here.save({ rom_id: rom }, 'Game.srm', 'one')
  for (const content of ['other', randomBytes(5 * MIB)]) {
    const query = { rom_id: rom, slot: 'a', conflict_of: 999_999 }
    t.equal((await here.send('POST', '/api/saves', query, [{ name: 'saveFile', fileName: 'Game.srm', content }])).statusCode, 404)
  }
  t.equal(keys().length, 1)
  await until(() => [...server.objects.keys()].every((key) => !key.includes('.staged')), 'staged objects are deleted')
})

t.test('a store that stays away gives 503, and no file counts as missing', async (t) => {
  const { rom, here, there, keys } = await newUser()
  const save = await here.save({ rom_id: rom }, 'Game.srm', 'one')
  server.fail(() => ({ status: 503, code: 'SlowDown' }))
  t.teardown(() => { server.fail(() => null) })
  const [read, write] = await Promise.all([
    there.call('GET', `/api/saves/${save.id}/content`),
    here.send('POST', '/api/saves', { rom_id: rom }, [{ name: 'saveFile', fileName: 'Game.srm', content: 'two' }])
  ])
  for (const { statusCode, headers, body } of [read, write]) t.same([statusCode, headers['retry-after'], /store of files is unavailable/.test(body)], [503, '15', true])
  server.fail(() => null)
  t.equal((await here.get(`/api/saves/${save.id}`)).missing_from_fs, false)
  t.equal(await there.content(`/api/saves/${save.id}/content`), 'one')
  t.equal(keys().length, 1)
})

t.test('a download whose connection to the store breaks is whole', async (t) => {
  const { rom, here, there } = await newUser()
  const content = randomBytes(MIB)
  const state = await here.state({ rom_id: rom }, 'Game.state', content)
  let left = 4
  server.fail(({ method }) => method === 'GET' && left-- > 0 ? 'cut-body' : null)
  t.teardown(() => { server.fail(() => null) })
  t.ok((await there.call('GET', `/api/states/${state.id}/content`)).rawPayload.equals(content))
  t.ok(left < 0)
})

t.test('a row without its object is missing until its content comes again', async (t) => {
  const { rom, here, there } = await newUser()
  const save = await here.save({ rom_id: rom }, 'Game.srm', 'one')
  server.objects.delete(`data/assets/${await pathOf(save)}`)
  const reply = await there.call('GET', `/api/saves/${save.id}/content`)
  t.match([reply.statusCode, reply.body], [404, /missing/])
  t.equal((await here.get(`/api/saves/${save.id}`)).missing_from_fs, true)
  await there.save({ rom_id: rom }, 'Game.srm', 'one')
  t.equal(await here.content(`/api/saves/${save.id}/content`), 'one')
})

t.test('an avatar is replaced on one host and served by the other', async (t) => {
  const { name, headers, keys } = await newUser()
  const { rows: [user] } = await test.app.pg.query<{ id: number }>('select id from users where username = $1', [name])
  const { default: sharp } = await import('sharp')
  const webp = await sharp(PNG).webp().toBuffer()
  for (const [picture, fileName] of [[PNG, 'a.png'], [webp, 'a.webp']] as const) {
    const form = createForm([{ name: 'avatar', fileName, content: picture }])
    t.equal((await test.app.inject({ method: 'PUT', url: `/api/users/${user?.id}`, headers: { ...headers, ...form.headers }, payload: form.payload })).statusCode, 200)
    const reply = await second.app.inject({ url: `/api/users/${user?.id}/avatar`, headers })
    t.ok(reply.rawPayload.equals(picture))
    t.equal((await second.app.inject({ url: `/api/users/${user?.id}/avatar`, headers: { ...headers, 'if-none-match': String(reply.headers.etag) } })).statusCode, 304)
    t.equal(keys().length, 1)
  }
  t.equal((await second.app.inject({ method: 'DELETE', url: `/api/users/${user?.id}`, headers: test.admin })).statusCode, 200)
  t.same(keys(), [])
})

t.test('files that a device syncs through WebDAV are in the bucket', async (t) => {
  const { headers, keys } = await newUser()
  const device = await createRetroArch(t, test, headers, 'Deck')
  await device.put('config/retroarch.cfg', Buffer.from('one'))
  t.equal(String((await device.send('GET', 'config/retroarch.cfg')).body), 'one')
  await device.put('config/retroarch.cfg', Buffer.from('two'))
  t.equal(String((await device.send('GET', 'config/retroarch.cfg')).body), 'two')
  await until(() => keys().length === 1, 'the former content is deleted')
})

t.test('the content hash of a zip is calculated from the bucket', async (t) => {
  const { rom, here } = await newUser()
  const zip = new yazl.ZipFile()
  zip.addBuffer(Buffer.from('inner'), 'Game.srm')
  zip.end()
  const save = await here.save({ rom_id: rom }, 'Game.zip', await buffer(zip.outputStream))
  t.equal(save.content_hash, md5Of(`Game.srm:${md5Of('inner')}`))
  await test.app.pg.query("update assets set content_hash = 'wrong' where id = $1", [save.id])
  t.match(await runTask('recompute_save_content_hashes'), { saves: { saves_updated: 1, errors: 0 } })
  t.equal((await here.get(`/api/saves/${save.id}`)).content_hash, save.content_hash)
})

t.test('svc doctor finds rows without objects, and a store that does not work', async (t) => {
  const { rom, here } = await newUser()
  const save = await here.save({ rom_id: rom }, 'Game.srm', 'one')
  const examine = async (isFull = false) =>
    await examineStore({ features, config: test.config, settings: {}, state: null, mailTo: null, isFull }, test.app.pg)
  const path = await pathOf(save)
  for (const isFull of [false, true]) t.match((await examine(isFull)).map(({ status }) => status), ['ok', 'ok'])
  const object = server.objects.get(`data/assets/${path}`)
  if (object === undefined) throw new Error('There is an object')
  server.objects.delete(`data/assets/${path}`)
  for (const isFull of [false, true]) t.match((await examine(isFull))[1], { status: 'fail', lines: [path], message: /^1 of .* are missing/ })
  server.objects.set(`data/assets/${path}`, { ...object, content: Buffer.from('longer') })
  t.match((await examine())[1], { status: 'fail', lines: [path] })
  server.objects.set(`data/assets/${path}`, object)
  server.fail(({ method }) => method === 'PUT' ? { status: 403, code: 'AccessDenied' } : null)
  t.teardown(() => { server.fail(() => null) })
  t.match(await examine(), [{ status: 'fail', message: /s3:\/\/games\/data cannot be used: .*the credentials do not allow it/ }])
})

t.test('a backup holds the objects of a bucket, and a restore puts them into one', async (t) => {
  const { rom, here, name, headers } = await newUser()
  const content = randomBytes(5 * MIB)
  await here.save({ rom_id: rom }, 'Game.srm', content)
  const form = createForm([{ name: 'avatar', fileName: 'a.png', content: PNG }])
  const { rows: [user] } = await test.app.pg.query<{ id: number }>('select id from users where username = $1', [name])
  await test.app.inject({ method: 'PUT', url: `/api/users/${user?.id}`, headers: { ...headers, ...form.headers }, payload: form.payload })
  const objects = new Map([...server.objects].filter(([key]) => key.startsWith('data/assets/users/')).map(([key, value]) => [key, value.content]))
  const places = t.testdir({ backups: {}, restored: {} })
  const quiet = { signal: new AbortController().signal, report: () => undefined }
  for (const isIncremental of [false, true]) {
    const path = join(places, 'backups', `${isIncremental}.tar.gz`)
    const made = await createBackup({ config: test.config, databaseUrl: test.databaseUrl, path, isIncremental, holds: 'everything', passphrase: null, ...quiet })
    t.equal(made.gone, 0)
    t.ok(made.files >= objects.size)
    const dataDir = join(places, 'restored', String(isIncremental))
    const target = server.url.replace('/data?', `/restored-${isIncremental}?`)
    const restore = async () => await restoreBackup({
      path,
      dataDir,
      environment: { ...env, SVC_STORE_URL: target, SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: await createTestDatabase(t), SVC_AUTH_SECRET_KEY: 'a key for tests only' },
      loadConfig: features.loadConfig,
      withoutSecrets: false,
      formerPrefix: 'before-restore',
      continuesWork: false,
      ...quiet
    })
    await mkdir(dataDir)
    server.fail(({ method, key }) => method === 'PUT' && key.includes('restored') && key.includes('.srm') ? { status: 403, code: 'AccessDenied' } : null)
    await t.rejects(restore(), { code: 'UNAVAILABLE' })
    server.fail(() => null)
    t.notOk((await readdir(dataDir)).includes('identity'), 'nothing was changed')
    await restore()
    for (const [key, expected] of objects) t.ok(server.objects.get(key.replace('data/', `restored-${isIncremental}/`))?.content.equals(expected), key)
    t.notOk((await readdir(dataDir)).includes('assets'), 'no upload stays on the disk')
  }
})

t.test('a host deletes old remains of its uploads at its start', async (t) => {
  const parts = ['users/a/incoming/old.part', 'users/a/incoming/new.part', 'incoming/old.part']
  const base = t.testdir({})
  for (const path of parts) {
    await mkdir(dirname(join(base, path)), { recursive: true })
    await writeFile(join(base, path), '')
    if (path.includes('old')) await utimes(join(base, path), 1, 1)
  }
  await sweepIncoming(base)
  t.same((await readdir(base, { recursive: true })).filter((path) => path.endsWith('.part')), [join('users', 'a', 'incoming', 'new.part')])
})

t.test('clean-up sets unknown objects aside and restores missing ones', async (t) => {
  const { rom, here, folder } = await newUser()
  const save = await here.save({ rom_id: rom }, 'Game.srm', 'precious')
  const key = `data/assets/${await pathOf(save)}`
  const old = new Date(Date.now() - 2 * DAY_MS)
  const unknown = `data/assets/${folder}/saves/snes/1/Unknown.srm`
  const staged = 'data/.staged/of-a-killed-process'
  for (const one of [unknown, staged]) server.objects.set(one, { content: Buffer.from(one), etag: '"1"', at: old })
  const lost = 'data/assets/lost/2026-01-01/Game.srm'
  server.objects.set(lost, { content: Buffer.from('precious'), etag: '"2"', at: old })
  server.objects.delete(key)
  await test.app.pg.query("update workers set started_at = now() - interval '2 hours'")
  await test.app.pg.query("update installation set looked_at = now() - interval '1 hour'")
  t.match(await runTask('cleanup_assets', { set_aside: true }), { cleanup_stats: { recovered: 1, unknown: 1, lost: 1 } })
  t.equal(await here.content(`/api/saves/${save.id}/content`), 'precious')
  t.same([unknown, staged, lost].filter((one) => server.objects.has(one)), [])
  t.ok([...server.objects.keys()].some((one) => one.startsWith('data/assets/lost/') && one.endsWith('Unknown.srm')))
})
