import { until } from '../../until.ts'
import { checkPresence } from '../../../plugins/artwork/files.ts'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, readdir, rename } from 'node:fs/promises'
import { join, dirname } from 'node:path'
import t from 'tap'
import { createForm, PNG } from './support.ts'
import { createBackup } from '../../../plugins/backup/write-backup.ts'
import { restoreBackup } from '../../../plugins/backup/restore/restore-backup.ts'
import { examineStore } from '../../../plugins/doctor/store.ts'
import { features } from '../../../plugins/index.ts'
import { createTestDatabase } from '../../support.ts'
import { MIB, startBucket } from './bucket-support.ts'

const {
  server, env, test, second, newUser, runTask, artworkKeys, scan, addCartridge, readFrom, listLocal
} = await startBucket(t)

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
    const made = await createBackup({ config: test.config, databaseUrl: test.databaseUrl, path, namesIncomplete: false, isIncremental, holds: 'everything', passphrase: null, ...quiet })
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

async function sendForm (method: 'POST' | 'PUT', url: string, name: string, fileName: string, content: Buffer) {
  const form = createForm([{ name, fileName, content }])
  return await test.app.inject({
    method, url, headers: { ...test.admin, ...form.headers, 'x-upload-filename': fileName }, payload: form.payload
  })
}

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
