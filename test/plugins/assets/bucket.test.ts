import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import yazl from 'yazl'
import { buffer } from 'node:stream/consumers'
import { createClient, createForm, folderOf, listStored, md5Of, sha1Of, PNG, type AssetItem } from './support.ts'
import { CREDENTIALS, startS3Server } from '../../core/store/s3-server.ts'
import { addRom } from '../roms/support.ts'
import { createRetroArch } from '../webdav/support.ts'
import { sweepUnfinished } from '../../../plugins/resources/sweep-unfinished.ts'
import { sweepIncoming } from '../../../plugins/assets/clean-up/sweep-incoming.ts'
import { checkPresence } from '../../../plugins/artwork/files.ts'
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

async function waitForTask (id: string): Promise<Record<string, Record<string, number>>> {
  return await until(async () => {
    const { status, meta } = (await test.app.inject({ url: `/api/tasks/${id}`, headers: test.admin }))
      .json<{ status: string, meta: Record<string, Record<string, number>> }>()
    return status === 'finished' ? meta : null
  }, 'the end of the task')
}

async function runTask (name: string, payload: object = {}): Promise<Record<string, Record<string, number>>> {
  const { task_id: id } = (await test.app.inject({ method: 'POST', url: `/api/tasks/run/${name}`, headers: test.admin, payload }))
    .json<{ task_id: string }>()
  return await waitForTask(id)
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
  for (const isFull of [false, true]) t.match((await examine(isFull)).map(({ status }) => status), ['ok', 'ok', 'ok'])
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
  const cover = 'data/resources/collections/7/cover/big.png'
  const ofScan = 'data/resources/roms/1/7/cover/big.png'
  for (const key of [cover, ofScan]) server.objects.set(key, { content: Buffer.from(key), etag: '"1"', at: new Date() })
  t.teardown(() => { for (const key of [cover, ofScan]) server.objects.delete(key) })
  const objects = new Map([...server.objects].filter(([key]) => key.startsWith('data/assets/users/') || key === cover).map(([key, value]) => [key, value.content]))
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
    t.notOk(server.objects.has(ofScan.replace('data/', `restored-${isIncremental}/`)), 'a scan fetches its artwork again')
    t.notOk((await readdir(dataDir)).includes('assets'), 'no upload stays on the disk')
  }
})

const PDF = Buffer.from('%PDF-1.7\nsmall\n%%EOF\n')
const artworkKeys = () => [...server.objects.keys()].filter((key) => key.startsWith('data/resources/')).sort()

async function scan (type = 'quick'): Promise<void> {
  const payload = { type, apis: [] }
  const reply = await test.app.inject({ method: 'POST', url: '/api/tasks/scan', headers: test.admin, payload })
  await waitForTask(reply.json<{ task_id: string }>().task_id)
}

interface Cartridge {
  id: number
  platform_id: number
  path_cover_large: string
  path_cover_small: string
  path_manual: string | null
}

/** Scans a cartridge that is its own cover. */
async function addCartridge (): Promise<Cartridge & { name: string, reload (): Promise<Cartridge> }> {
  const name = `Cart ${++count}.p8.png`
  const { default: sharp } = await import('sharp')
  const create = { width: 30, height: 40, channels: 3, background: { r: count, g: 20, b: 20 } } as const
  const picture = await sharp({ create }).png().toBuffer()
  await mkdir(join(test.libraryDir, 'roms', 'pico-8'), { recursive: true })
  await writeFile(join(test.libraryDir, 'roms', 'pico-8', name), picture)
  await scan()
  const select = async (column: string, value: string | number) => (await test.app.pg.query<Cartridge>(
    `select id, platform_id, path_cover_large, path_cover_small, path_manual from roms where ${column} = $1`, [value])).rows[0]
  const rom = await select('fs_name', name)
  if (rom === undefined) throw new Error('The scan stores the cartridge')
  return {
    ...rom,
    name,
    async reload () {
      const stored = await select('id', rom.id)
      if (stored === undefined) throw new Error('The ROM is gone')
      return stored
    }
  }
}

const readFrom = async (host: typeof test, path: string, headers: Record<string, string> = {}) =>
  await host.app.inject({ url: `/assets/svc/resources/${path}`, headers: { ...test.admin, ...headers } })

async function sendForm (method: 'POST' | 'PUT', url: string, name: string, fileName: string, content: Buffer) {
  const form = createForm([{ name, fileName, content }])
  return await test.app.inject({
    method, url, headers: { ...test.admin, ...form.headers, 'x-upload-filename': fileName }, payload: form.payload
  })
}

async function listLocal (): Promise<string[]> {
  const entries = await readdir(join(test.config.data_dir, 'resources'), { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

t.test('artwork of a scan is in the bucket, and every host sends it', async (t) => {
  const { path_cover_large: large, path_cover_small: small } = await addCartridge()
  t.same([large, small].map((path) => server.objects.has(`data/resources/${path}`)), [true, true])
  t.same(await listLocal(), [], 'no artwork stays on the host')
  const whole = await readFrom(second, large)
  t.same([whole.statusCode, whole.headers['content-type']], [200, 'image/png'])
  t.ok(whole.rawPayload.equals(server.objects.get(`data/resources/${large}`)?.content ?? Buffer.alloc(0)))
  const part = await readFrom(second, large, { range: 'bytes=1-3' })
  t.same([part.statusCode, part.body], [206, 'PNG'])
  t.equal((await readFrom(test, large, { 'if-none-match': String(whole.headers.etag) })).statusCode, 304)
  t.equal((await readFrom(second, large.replace('big', 'none'))).statusCode, 404)
  server.objects.delete(`data/resources/${large}`)
  const isPresent = checkPresence(test.app.store, dirname(dirname(large)))
  const counted = server.counts.get('HEAD')
  t.same([await isPresent(large), await isPresent(small), await isPresent(null)], [false, true, false])
  t.equal(server.counts.get('HEAD'), counted, 'one list is enough for all files of a ROM')
  server.objects.set(`data/resources/${large.replace('big.png', 'other.png')}`, { content: PNG, etag: '"1"', at: new Date() })
  await scan('complete')
  t.same(artworkKeys().filter((key) => key.includes(dirname(large))), [large, small].map((path) => `data/resources/${path}`))
})

t.test('covers and manuals that people upload are replaced and deleted in the bucket', async (t) => {
  const { id, platform_id: platform, reload } = await addCartridge()
  const keysOf = () => artworkKeys().filter((key) => key.includes(`/roms/${platform}/${id}/`))
  for (let turn = 0; turn < 2; turn++) {
    t.equal((await sendForm('PUT', `/api/roms/${id}`, 'artwork', 'own.png', PNG)).statusCode, 200)
    const { path_cover_large: large, path_cover_small: small } = await reload()
    t.match(large, /\/own-/)
    t.ok((await readFrom(second, large)).rawPayload.equals(PNG))
    t.same(keysOf().filter((key) => key.includes('/own-')), [large, small].map((path) => `data/resources/${path}`).sort())
  }
  for (const name of ['guide.pdf', 'guide.md', 'guide.pdf']) {
    const reply = await sendForm('POST', `/api/roms/${id}/manuals`, name, name, PDF)
    t.equal(reply.statusCode, 201, reply.body)
    const { path_manual: manual } = await reload()
    t.ok((await readFrom(second, manual ?? '')).rawPayload.equals(PDF))
    t.same(keysOf().filter((key) => key.includes('/manual/')), [`data/resources/${manual}`])
  }
  t.equal((await test.app.inject({ method: 'DELETE', url: `/api/roms/${id}/manuals`, headers: test.admin })).statusCode, 200)
  t.same(keysOf().filter((key) => key.includes('/manual/')), [])
  const form = createForm([{ name: 'name', content: 'Shelf' }, { name: 'artwork', fileName: 'own.png', content: PNG }])
  const { id: collection, path_cover_large: cover } = (await test.app.inject({
    method: 'POST', url: '/api/collections', headers: { ...test.admin, ...form.headers }, payload: form.payload
  })).json<{ id: number, path_cover_large: string }>()
  t.ok((await second.app.inject({ url: cover })).rawPayload.equals(PNG))
  t.equal((await test.app.inject({ method: 'DELETE', url: `/api/collections/${collection}`, headers: test.admin })).statusCode, 200)
  t.same(artworkKeys().filter((key) => key.includes('collections')), [])
  t.same(await listLocal(), [])
  t.equal((await test.app.inject({ method: 'POST', url: '/api/roms/delete', headers: test.admin, payload: { roms: [id] } })).statusCode, 200)
  t.same(keysOf(), [])
})

t.test('exporters, conversions, clean-up and renamed folders work on the bucket', async (t) => {
  const { id, platform_id: platform, name, reload } = await addCartridge()
  const roms = join(test.libraryDir, 'roms')
  const reply = await test.app.inject({ method: 'POST', url: '/api/export/gamelist-xml', headers: test.admin })
  t.equal(reply.statusCode, 200, reply.body)
  const exported = join(roms, 'pico-8', 'covers', name)
  const cover = server.objects.get(`data/resources/${(await reload()).path_cover_large}`)
  t.ok((await readFile(exported)).equals(cover?.content ?? Buffer.alloc(0)))
  const { counts } = server
  const gets = counts.get('GET') ?? 0
  t.equal((await test.app.inject({ method: 'POST', url: '/api/export/gamelist-xml', headers: test.admin })).statusCode, 200)
  t.equal(counts.get('GET') ?? 0, gets, 'an unchanged medium is not read again')
  t.match(await runTask('convert_images_to_webp'), { conversion_stats: { errors: 0 } })
  t.ok(server.objects.has(`data/resources/roms/${platform}/${id}/cover/big.webp`))
  await rename(join(roms, 'pico-8'), join(roms, 'ps'))
  await scan()
  const moved = await reload()
  t.not(moved.platform_id, platform)
  t.equal((await readFrom(second, moved.path_cover_large)).statusCode, 200)
  t.same(artworkKeys().filter((key) => key.includes(`/roms/${platform}/${id}/`)), [])
  await test.app.pg.query('delete from roms where id = $1', [id])
  t.match(await runTask('cleanup_orphaned_resources'), { cleanup_stats: { removed_fs_roms: 1 } })
  t.same(artworkKeys().filter((key) => key.includes(`/${id}/`)), [])
  await rename(join(roms, 'ps'), join(roms, 'pico-8'))
})

t.test('svc doctor finds artwork without its object', async (t) => {
  const { id, path_cover_small: small, reload } = await addCartridge()
  const examine = async (isFull: boolean) => (await examineStore(
    { features, config: test.config, settings: {}, state: null, mailTo: null, isFull }, test.app.pg))[2]
  for (const isFull of [false, true]) t.match(await examine(isFull), { subject: 'artwork', status: 'ok' })
  server.objects.delete(`data/resources/${small}`)
  for (const isFull of [false, true]) t.match(await examine(isFull), { status: 'warn', lines: [small], remedy: /update scan/ })
  await sendForm('PUT', `/api/roms/${id}`, 'artwork', 'own.png', PNG)
  const { path_cover_large: own } = await reload()
  server.objects.delete(`data/resources/${own}`)
  for (const isFull of [false, true]) t.match(await examine(isFull), { status: 'fail', lines: [own], remedy: /from a backup/ })
  await test.app.pg.query('delete from roms where id = $1', [id])
})

t.test('a scan reports artwork that the store refuses, and a request gets 503', async (t) => {
  const { id, path_cover_large: large } = await addCartridge()
  server.fail(({ method, key }) => key.includes('resources') && method !== 'DELETE' ? { status: 503, code: 'SlowDown' } : null)
  t.teardown(() => { server.fail(() => null) })
  const edit = await sendForm('PUT', `/api/roms/${id}`, 'artwork', 'own.png', PNG)
  for (const { statusCode, headers, body } of [await readFrom(second, large), edit]) {
    t.same([statusCode, Number(headers['retry-after']) > 0, /store of files is unavailable/.test(body)], [503, true, true])
  }
  const { path_cover_large: none } = await addCartridge()
  t.equal(none, null)
  const { rows: [task] } = await test.app.pg.query<{ meta: object }>("select meta from tasks where type = 'scan' order by created_at desc limit 1")
  t.match(JSON.stringify(task?.meta), 'the store of files is unavailable. Find the reason with svc doctor, then run an update scan')
  server.fail(() => null)
  t.equal((await readFrom(second, large)).statusCode, 200)
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

t.test('a host deletes old remains of artwork at its start', async (t) => {
  const parts = ['.unfinished/edit-old/1.part', '.unfinished/edit-new/1.part', 'collections/.incoming/old.part', 'roms/1/2/cover/old.png']
  const base = t.testdir({})
  for (const path of parts) {
    await mkdir(dirname(join(base, path)), { recursive: true })
    await writeFile(join(base, path), '')
  }
  for (const path of ['.unfinished/edit-old', 'collections/.incoming/old.part', 'roms/1/2/cover/old.png']) await utimes(join(base, path), 1, 1)
  await sweepUnfinished(base)
  await sweepUnfinished(join(base, 'none'))
  const left = (await readdir(base, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  t.same(left.map(({ name }) => name).sort(), ['1.part', 'old.png'])
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
