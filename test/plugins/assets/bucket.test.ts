import { randomBytes } from 'node:crypto'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import yazl from 'yazl'
import { sweepIncoming } from '../../../plugins/assets/clean-up/sweep-incoming.ts'
import { examineStore } from '../../../plugins/doctor/store.ts'
import { features } from '../../../plugins/index.ts'
import { sweepUnfinished } from '../../../plugins/resources/sweep-unfinished.ts'
import { until } from '../../until.ts'
import { createRetroArch } from '../webdav/support.ts'
import { MIB, startBucket } from './bucket-support.ts'
import { type AssetItem, PNG, createForm, listStored, md5Of, sha1Of } from './support.ts'

const { server, test, second, newUser, runTask } = await startBucket(t)

const DAY_MS = 86_400_000

const pathOf = async ({ id }: Pick<AssetItem, 'id'>) =>
  (await test.app.pg.query<{ disk_path: string }>('select disk_path from assets where id = $1', [id])).rows[0]?.disk_path ?? ''

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
