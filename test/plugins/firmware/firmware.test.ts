import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { ADMIN_ACCESS } from '../../../core/access/grants.ts'
import { digestFile } from '../../../plugins/firmware/digest.ts'
import { listFirmware } from '../../../plugins/firmware/read-firmware.ts'
import { type Headers, type Part, createForm, md5Of, sha1Of } from '../assets/support.ts'
import { type TestApp, buildTestApp, shareTestApp } from '../../support.ts'
import { countQueries } from '../roms/support.ts'

const fresh = shareTestApp(t)

interface View extends Record<string, unknown> { id: number, file_name: string, is_verified: boolean }
interface Bulk { successful_items: number, failed_ids: number[], errors: string[] }

const LIBRARY = { roms: { snes: {}, 'fairchild-channel-f': {} } }

async function addPlatform ({ app }: TestApp, fsSlug: string): Promise<number> {
  return (await app.platforms.ensure(app.db, fsSlug)).platform.id
}

async function upload ({ app, admin }: TestApp, platformId: number, parts: readonly Part[], headers: Headers = admin) {
  const form = createForm(parts)
  return await app.inject({
    method: 'POST', url: `/api/firmware?platform_id=${platformId}`, headers: { ...headers, ...form.headers },
    payload: form.payload
  })
}

const file = (fileName: string, content: string | Buffer): Part => ({ name: 'files', fileName, content })

async function uploadOne (test: TestApp, platformId: number, name: string, content: string | Buffer): Promise<View> {
  const { firmware } = (await upload(test, platformId, [file(name, content)])).json<{ firmware: View[] }>()
  return firmware.find((one) => one.file_name === name) as View
}

const get = ({ app, admin }: TestApp, url: string, headers: Headers = admin) => app.inject({ url, headers })

async function remove ({ app, admin }: TestApp, payload: object, headers: Headers = admin) {
  return await app.inject({ method: 'POST', url: '/api/firmware/delete', headers, payload })
}

/** Forges bytes of a length and a checksum: computes the last four by running the table of the checksum backwards. */
function forge (length: number, crc: string): Buffer {
  const table = Array.from({ length: 256 }, (_none, index) => (~crc32(Buffer.of(index ^ 0xff)) ^ 0x00ffffff) >>> 0)
  const head = Buffer.alloc(length - 4, 'x')
  let state = ~Number.parseInt(crc, 16) >>> 0
  for (let step = 0; step < 4; step++) {
    const index = table.findIndex((entry) => entry >>> 24 === state >>> 24)
    state = (((state ^ (table[index] ?? 0)) << 8) | index) >>> 0
  }
  const end = Buffer.alloc(4)
  end.writeUInt32LE((state ^ ~crc32(head)) >>> 0)
  return Buffer.concat([head, end])
}

t.test("uploaded files are stored with their hashes in the platform's firmware folder", async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const snes = await addPlatform(test, 'snes')
  const reply = await upload(test, snes, [file('b (Rev 1).bin', 'two'), file('a.bin', 'one')])
  t.equal(reply.statusCode, 200, reply.body)
  t.match(reply.json(), {
    uploaded: 2,
    firmware: [{ file_name: 'a.bin' }, {
      file_name: 'b (Rev 1).bin',
      file_name_no_tags: 'b',
      file_name_no_ext: 'b (Rev 1)',
      file_extension: 'bin',
      file_path: 'bios/snes',
      full_path: 'bios/snes/b (Rev 1).bin',
      file_size_bytes: 3,
      crc_hash: crc32('two').toString(16).padStart(8, '0'),
      md5_hash: md5Of('two'),
      sha1_hash: sha1Of('two'),
      is_verified: false,
      missing_from_fs: false
    }]
  })
  t.same(await readdir(join(test.libraryDir, 'bios', 'snes')), ['a.bin', 'b (Rev 1).bin'])
})

t.test('after uploads of one name at once, the hash is that of the file on disk', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const platform = await addPlatform(test, 'snes')
  for (let round = 0; round < 5; round++) {
    const contents = Array.from({ length: 8 }, (_none, index) => `content ${round} ${index}`)
    const replies = await Promise.all(contents.map((content) => upload(test, platform, [file('bios.rom', content)])))
    t.same(replies.map(({ statusCode }) => statusCode), contents.map(() => 200))
    const onDisk = await readFile(join(test.libraryDir, 'bios', 'snes', 'bios.rom'), 'utf8')
    t.match((await get(test, '/api/firmware')).json(), [{ file_name: 'bios.rom', md5_hash: md5Of(onDisk) }])
  }
})

t.test('in structure B each platform has its own firmware folder', async (t) => {
  const test = await fresh(t, { library: { nes: { roms: {} } } })
  await upload(test, await addPlatform(test, 'nes'), [file('disksys.rom', 'x')])
  t.ok(existsSync(join(test.libraryDir, 'nes', 'bios', 'disksys.rom')))
})

t.test('replacing firmware needs the grant to delete', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const platform = await addPlatform(test, 'snes')
  const zoe = await test.createUser('zoe')
  const { id } = await uploadOne(test, platform, 'a.bin', 'first')
  await test.app.pg.query(`insert into permission_grants (group_id, entity, action, own_only)
    select id, 'firmware', 'write', false from permission_groups where is_default on conflict do nothing`)
  t.equal((await upload(test, platform, [file('b.bin', 'new')], zoe)).statusCode, 200)
  const refused = await upload(test, platform, [file('c.bin', 'new'), file('a.bin', 'second')], zoe)
  t.match(refused.json(), { detail: 'Insufficient permissions' })
  t.equal((await get(test, `/api/firmware/${id}/content/a.bin`)).body, 'first')
  t.same((await get(test, '/api/firmware')).json<View[]>().map((one) => one.file_name), ['a.bin', 'b.bin'], 'nothing of the form was stored')
})

t.test('a known good dump is verified until it is replaced', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const platform = await addPlatform(test, 'fairchild-channel-f')
  const dump = forge(1024, '04694ed9')
  t.equal(crc32(dump), 0x04694ed9)
  const good = await uploadOne(test, platform, 'sl31253.bin', dump)
  t.equal(good.is_verified, true)
  t.equal((await uploadOne(test, platform, 'other.bin', dump)).is_verified, false, 'under another name it is none')
  const replaced = await uploadOne(test, platform, 'sl31253.bin', 'another file')
  t.match(replaced, {
    id: good.id, is_verified: false, file_size_bytes: 12, md5_hash: md5Of('another file'), sha1_hash: sha1Of('another file')
  })
})

t.test('a file of a known size with other content is not verified', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const platform = await addPlatform(test, 'fairchild-channel-f')
  t.equal((await uploadOne(test, platform, 'sl31253.bin', Buffer.alloc(1024))).is_verified, false)
})

t.test('an archive is hashed by its own bytes, as known dumps are listed', async (t) => {
  const folder = t.testdir({ 'midssio.zip': 'PK\x03\x04 no matter what' })
  const hashes = await digestFile(join(folder, 'midssio.zip'), new AbortController().signal)
  t.equal(hashes.md5_hash, md5Of('PK\x03\x04 no matter what'))
})

t.test('an invalid file name is refused, and nothing is written', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const snes = await addPlatform(test, 'snes')
  for (const name of ['../evil.bin', 'a/b.bin', 'a\\b.bin', '..', '.', 'a\tb.bin', 'C:x', 'é'.repeat(200), 'notes.tmp']) {
    const reply = await upload(test, snes, [file('good.bin', 'x'), file(name, 'x')])
    t.equal(reply.statusCode, 400, `${name}: ${reply.body}`)
    t.type(reply.json<{ detail: unknown }>().detail, 'string')
  }
  t.same(await readdir(join(test.libraryDir, 'bios', 'snes')), [])
  t.same((await get(test, '/api/firmware')).json(), [])
  t.notOk(existsSync(join(test.libraryDir, 'bios', 'evil.bin')))
})

t.test('a part without a name is counted and skipped; a form without files is refused', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const snes = await addPlatform(test, 'snes')
  const reply = await upload(test, snes, [{ name: 'files', content: 'x' }, file('', 'x'), file('a.bin', 'x')])
  t.match(reply.json(), { uploaded: 3, firmware: { length: 1 } })
  t.equal((await upload(test, snes, [{ name: 'note', content: 'x' }])).statusCode, 422)
  const json = await test.app.inject({ method: 'POST', url: `/api/firmware?platform_id=${snes}`, headers: test.admin, payload: {} })
  t.equal(json.statusCode, 422)
  t.equal((await upload(test, 4711, [file('a.bin', 'x')])).json<{ detail: string }>().detail, 'Platform with ID 4711 not found')
})

t.test('a form may have as many files as a platform has firmware', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const snes = await addPlatform(test, 'snes')
  const named = (count: number) => Array.from({ length: count }, (_none, index) => file(`${index}.bin`, 'x'))
  t.match((await upload(test, snes, named(40))).json(), { uploaded: 40, firmware: { length: 40 } })
  const { statusCode, body } = await upload(test, snes, named(251))
  t.match([statusCode, JSON.parse(body)], [413, { detail: 'The form has too many files; send fewer at once' }])
  t.equal((await readdir(join(test.libraryDir, 'bios', 'snes'))).length, 40, 'nothing of a refused form remains')
})

t.test('an upload that is too large or blocked by a folder is refused without a trace', async (t) => {
  const test = await buildTestApp(t, { library: LIBRARY, env: { MAX_ASSET_UPLOAD_SIZE_BYTES: '1000' } })
  const snes = await addPlatform(test, 'snes')
  t.equal((await upload(test, snes, [file('a.bin', Buffer.alloc(2000))])).statusCode, 413)
  await mkdir(join(test.libraryDir, 'bios', 'snes', 'taken.bin', 'x'), { recursive: true })
  const reply = await upload(test, snes, [file('taken.bin', 'x')])
  t.equal(reply.statusCode, 409)
  t.match(reply.json<{ detail: string }>().detail, /'bios\/snes\/taken\.bin'; rename/)
  t.same(await readdir(join(test.libraryDir, 'bios', 'snes')), ['taken.bin'])
})

t.test('firmware is listed by name with a constant number of statements', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const [snes, channelF] = [await addPlatform(test, 'snes'), await addPlatform(test, 'fairchild-channel-f')]
  await upload(test, snes, [file('c.bin', 'x'), file('a.bin', 'x')])
  await upload(test, channelF, [file('b.bin', 'x')])
  const names = async (url: string) => (await get(test, url)).json<View[]>().map((view) => view.file_name)
  t.same(await names('/api/firmware'), ['a.bin', 'b.bin', 'c.bin'])
  t.same(await names(`/api/firmware?platform_id=${snes}`), ['a.bin', 'c.bin'])
  t.same(await names('/api/firmware?platform_id=4711'), [])
  t.same((await get(test, '/api/firmware/identifiers')).json<number[]>().length, 3)
  const db = test.app.db
  const caller = { id: 0, access: ADMIN_ACCESS }
  t.equal(await countQueries(test, async () => await listFirmware(test.app.platforms, { db, caller }, undefined)), 1)
  const [first] = (await get(test, '/api/firmware')).json<View[]>()
  t.same((await get(test, `/api/firmware/${first?.id}`)).json(), first)
  for (const id of [4711, 0, -1]) {
    const reply = await get(test, `/api/firmware/${id}`)
    t.equal(reply.statusCode, 404)
    t.equal(reply.json<{ detail: string }>().detail, `Firmware with ID ${id} not found`)
  }
})

t.test('content is sent whole and in ranges, whatever the name in the URL is', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const { id } = await uploadOne(test, await addPlatform(test, 'snes'), 'boot.bin', 'hello world')
  const whole = await get(test, `/api/firmware/${id}/content/whatever.rom`)
  t.equal(whole.body, 'hello world')
  t.match(whole.headers, {
    'content-type': 'application/octet-stream', 'content-length': '11', 'accept-ranges': 'bytes', etag: /^"/,
    'last-modified': /GMT$/, 'content-disposition': /^attachment; .*filename="boot\.bin"/
  })
  const part = await get(test, `/api/firmware/${id}/content/x`, { ...test.admin, range: 'bytes=6-' })
  t.equal(part.statusCode, 206)
  t.equal(part.body, 'world')
  const head = await test.app.inject({ method: 'HEAD', url: `/api/firmware/${id}/content/mine.rom`, headers: test.admin })
  t.equal(head.body, '')
  t.match(head.headers, { 'content-length': '11', 'content-disposition': /^attachment; .*filename="mine\.rom"/ })
  const again = await get(test, `/api/firmware/${id}/content/x`, { ...test.admin, 'if-none-match': String(whole.headers.etag) })
  t.equal(again.statusCode, 304)
})

t.test('content that is missing on disk or outside the library is not found', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const snes = await addPlatform(test, 'snes')
  const { id } = await uploadOne(test, snes, 'boot.bin', 'x')
  const path = join(test.libraryDir, 'bios', 'snes', 'boot.bin')
  await rm(path)
  for (const method of ['GET', 'HEAD'] as const) {
    t.equal((await test.app.inject({ method, url: `/api/firmware/${id}/content/x`, headers: test.admin })).statusCode, 404)
  }
  await symlink('/etc/hostname', path)
  t.equal((await get(test, `/api/firmware/${id}/content/x`)).statusCode, 404)
  await uploadOne(test, snes, 'boot.bin', 'mine')
  t.equal((await get(test, `/api/firmware/${id}/content/x`)).body, 'mine', 'an upload replaces the link, not what it leads to')
})

t.test('firmware is deleted from the list, and from the disk on request', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const snes = await addPlatform(test, 'snes')
  const kept = await uploadOne(test, snes, 'kept.bin', 'x')
  const gone = await uploadOne(test, snes, 'gone.bin', 'x')
  const lost = await uploadOne(test, snes, 'lost.bin', 'x')
  const folder = join(test.libraryDir, 'bios', 'snes')
  await rm(join(folder, 'lost.bin'))
  const reply = await remove(test, {
    firmware: [kept.id, gone.id, lost.id, 4711], delete_from_fs: [gone.id, lost.id, 12]
  })
  t.equal(reply.statusCode, 200)
  t.match(reply.json<Bulk>(), {
    successful_items: 2, failed_ids: [lost.id, 4711],
    errors: [new RegExp(`^Failed to delete firmware ${lost.id}: `), 'Firmware with ID 4711 not found']
  })
  t.same(await readdir(folder), ['kept.bin'])
  t.same((await get(test, '/api/firmware')).json(), [], 'a row whose file was gone is gone too')
})

t.test('a file that cannot be deleted keeps its row', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const { id } = await uploadOne(test, await addPlatform(test, 'snes'), 'boot.bin', 'x')
  const path = join(test.libraryDir, 'bios', 'snes', 'boot.bin')
  await rm(path)
  await mkdir(path)
  const reply = await remove(test, { firmware: [id], delete_from_fs: [id] })
  t.match(reply.json<Bulk>(), { successful_items: 0, failed_ids: [id] })
  t.equal((await get(test, `/api/firmware/${id}`)).statusCode, 200)
})

t.test('a firmware folder that is a link is used', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const snes = await addPlatform(test, 'snes')
  const elsewhere = t.testdir({})
  await mkdir(join(test.libraryDir, 'bios'))
  await symlink(elsewhere, join(test.libraryDir, 'bios', 'snes'))
  const { id } = await uploadOne(test, snes, 'boot.bin', 'far away')
  t.equal(await readFile(join(elsewhere, 'boot.bin'), 'utf8'), 'far away')
  t.equal((await get(test, `/api/firmware/${id}/content/x`)).body, 'far away')
  await remove(test, { firmware: [id], delete_from_fs: [id] })
  t.same(await readdir(elsewhere), [])
})

t.test('a caller does not see firmware of a platform hidden from them', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const snes = await addPlatform(test, 'snes')
  const { id } = await uploadOne(test, snes, 'boot.bin', 'x')
  const bob = await test.createUser('bob')
  await test.app.pg.query(`insert into hidden_entities (entity, entity_id, user_id)
    select 'platforms', $1, id from users where username = 'bob'`, [snes])
  t.same((await get(test, '/api/firmware', bob)).json(), [])
  t.same((await get(test, '/api/firmware/identifiers', bob)).json(), [])
  t.equal((await get(test, `/api/firmware/${id}`, bob)).statusCode, 404)
  t.equal((await get(test, `/api/firmware/${id}/content/x`, bob)).statusCode, 404)
})

t.test('the right to write firmware allows no deletion and no upload to hidden platforms', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const [snes, hidden] = [await addPlatform(test, 'snes'), await addPlatform(test, 'fairchild-channel-f')]
  const bob = await test.createUser('bob')
  await test.app.pg.query(`insert into permission_overrides (user_id, entity, action, granted)
    select id, 'firmware', 'write', true from users where username = 'bob'`)
  await test.app.pg.query(`insert into hidden_entities (entity, entity_id, user_id)
    select 'platforms', $1, id from users where username = 'bob'`, [hidden])
  const reply = await upload(test, snes, [file('boot.bin', 'x')], bob)
  t.equal(reply.statusCode, 200)
  const id = reply.json<{ firmware: View[] }>().firmware[0]?.id
  t.match((await remove(test, { firmware: [id] }, bob)), { statusCode: 403 })
  t.equal((await upload(test, hidden, [file('boot.bin', 'x')], bob)).statusCode, 404)
  t.equal((await get(test, `/api/firmware/${id}`)).statusCode, 200)
})

t.test('firmware downloads need no sign-in where downloads are open', async (t) => {
  const test = await buildTestApp(t, { library: LIBRARY, env: { DISABLE_DOWNLOAD_ENDPOINT_AUTH: 'true' } })
  const { id } = await uploadOne(test, await addPlatform(test, 'snes'), 'boot.bin', 'x')
  await writeFile(join(test.libraryDir, 'bios', 'snes', 'boot.bin'), 'y')
  t.equal((await get(test, `/api/firmware/${id}`, {})).statusCode, 200)
  t.equal((await get(test, `/api/firmware/${id}/content/boot.bin`, {})).body, 'y')
  t.equal((await get(test, '/api/firmware', {})).statusCode, 401)
})
