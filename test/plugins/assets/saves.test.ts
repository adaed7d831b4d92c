import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { ZipFile } from 'yazl'
import { buffer } from 'node:stream/consumers'
import { buildTestApp } from '../../support.ts'
import { type AssetItem, PNG, addDevice, createClient, folderOf, listStored, md5Of, sha1Of } from './support.ts'
import { addRom } from '../roms/support.ts'

const test = await buildTestApp(t, { env: { MAX_ASSET_UPLOAD_SIZE_BYTES: '0' } })
const aliceHeaders = await test.createUser('alice')
const alice = createClient(test, aliceHeaders)
const bob = createClient(test, await test.createUser('bob'))
let count = 0
const newRom = () => addRom(test, { fs_name: `Game ${++count}.sfc` })
const contentOf = (id: number, kind = 'saves') => alice.content(`/api/${kind}/${id}/content`)

t.test('an upload replaces the save of the same name', async (t) => {
  const rom = await newRom()
  const first = await alice.save({ rom_id: rom, emulator: 'snes9x' }, 'Game.srm', 'one')
  t.match(first, {
    rom_id: rom,
    file_name: 'Game.srm',
    file_name_no_ext: 'Game',
    file_extension: 'srm',
    emulator: 'snes9x',
    slot: null,
    file_size_bytes: 3,
    sha1: sha1Of('one'),
    content_hash: md5Of('one'),
    is_public: false,
    screenshot: null,
    device_syncs: []
  })
  const folder = `${await folderOf(test, 'alice')}/saves/snes/${rom}/snes9x`
  t.match(first, { file_path: folder, full_path: `${folder}/Game.srm` })
  const second = await alice.save({ rom_id: rom, emulator: 'snes9x' }, 'Game.srm', 'two')
  t.equal(second.id, first.id)
  t.ok(second.updated_at > first.updated_at)
  t.equal(await contentOf(first.id), 'two')
  const [version, ...others] = await alice.versions(first.id)
  t.match(version, { sha1: sha1Of('one') })
  t.equal(others.length, 0)
  t.equal(await contentOf(first.id), 'two')
  t.equal(await alice.content(`/api/saves/${first.id}/versions/${version?.id}/content`), 'one')
  const again = await alice.save({ rom_id: rom, emulator: 'snes9x' }, 'Game.srm', 'two')
  t.equal(again.updated_at, second.updated_at, 'the same content changes nothing')
  t.equal((await alice.versions(first.id)).length, 1)
  t.same((await alice.get<AssetItem[]>(`/api/saves?rom_id=${rom}`)).map(({ id }) => id), [first.id])
  const marks = await alice.get<{ rom_user: { last_played: string | null } }>(`/api/roms/${rom}/simple`)
  t.ok(marks.rom_user.last_played)
})

t.test('saves of a slot have their date, store content once, and go by auto-cleanup', async (t) => {
  const rom = await newRom()
  const slot = { rom_id: rom, slot: 'main' }
  const first = await alice.save(slot, 'Game [2020-01-02_03-04-05].srm', 'one')
  t.match(first.file_name, /^Game \[20[^\]]{17}\]\.srm$/)
  t.notMatch(first.file_name, '2020-01-02')
  t.equal((await alice.save(slot, 'Game.srm', 'one')).id, first.id, 'a duplicate')
  t.equal((await alice.save({ ...slot, slot: 'other' }, 'Game.srm', 'one')).slot, 'other')
  await test.app.pg.query("update assets set file_name = 'Game [2021-01-01_00-00-00].srm' where id = $1", [first.id])
  const forced = await alice.save({ ...slot, overwrite: true }, 'Game.srm', 'one')
  t.not(forced.id, first.id)
  const summary = await alice.get<{ total_count: number, slots: { slot: string, count: number, latest: AssetItem }[] }>(
    `/api/saves/summary?rom_id=${rom}`)
  t.match(summary, { total_count: 3, slots: [{ slot: 'main', count: 2, latest: { id: forced.id } }, { slot: 'other', count: 1 }] })

  // An upload in the same second would replace this save.
  await test.app.pg.query("update assets set file_name = 'Game [2022-01-01_00-00-00].srm' where id = $1", [forced.id])
  const last = await alice.save({ ...slot, autocleanup: true, autocleanup_limit: 0 }, 'Game.srm', 'two')
  t.same((await alice.get<AssetItem[]>(`/api/saves?rom_id=${rom}&slot=main`)).map(({ id }) => id), [last.id], 'a limit below 1 is 1')
  const deleted = (await alice.get<AssetItem[]>('/api/saves/deleted')).filter(({ rom_id: id }) => id === rom)
  t.same(new Set(deleted.map(({ id }) => id)), new Set([first.id, forced.id]))
  t.equal(await contentOf(first.id), null)
  const { download_path: path } = deleted.find(({ id }) => id === first.id) ?? {}
  t.match(path, `/api/saves/deleted/${first.id}/content`)
  t.equal(await alice.content(path ?? ''), 'one', 'its owner can look at what was deleted')
  t.equal((await bob.call('GET', path ?? '')).statusCode, 404)
  const restored = await alice.call('POST', `/api/saves/${first.id}/restore`)
  t.match(restored.json(), { id: first.id, slot: 'main' })
  t.equal(await contentOf(first.id), 'one')
})

t.test('a version becomes current, and a new one is stored without becoming current', async (t) => {
  const rom = await newRom()
  for (const kind of ['saves', 'states'] as const) {
    const upload = (content: string) => alice[kind === 'saves' ? 'save' : 'state']({ rom_id: rom }, 'Game.bin', content)
    const { id } = await upload('one')
    await upload('two')
    const [one] = await alice.versions(id, kind)
    const restored = await alice.call('POST', `/api/${kind}/${id}/versions/${one?.id}/restore`)
    t.match(restored.json(), { id, sha1: sha1Of('one') })
    t.equal(await contentOf(id, kind), 'one')
    const part = { name: `${kind.slice(0, -1)}File`, fileName: 'Game.bin', content: 'device' }
    const kept = await alice.send('POST', `/api/${kind}/${id}/versions`, { mtime: '2024-05-06T07:08:09Z' }, [part])
    t.match(kept.json(), { sha1: sha1Of('device'), client_mtime: '2024-05-06T07:08:09+00:00' })
    t.equal((await alice.send('POST', `/api/${kind}/${id}/versions`, {}, [part])).json<{ id: number }>().id, kept.json<{ id: number }>().id)
    t.equal(await contentOf(id, kind), 'one')
    t.same((await alice.versions(id, kind)).map(({ sha1 }) => sha1), [sha1Of('device'), sha1Of('two')])
    t.equal((await alice.call('POST', `/api/${kind}/${id}/versions/${one?.id}/restore`)).statusCode, 404)
  }
})

t.test('a deleted save is restored with its picture, but not over another of its name', async (t) => {
  const rom = await newRom()
  const picture = { name: 'screenshotFile', fileName: 'whatever.png', content: PNG }
  const save = await alice.save({ rom_id: rom }, 'Game.srm', 'one', [picture])
  t.match(save.screenshot, { file_name: 'Game.srm.png', is_public: false })
  const reply = await alice.call('POST', '/api/saves/delete', { saves: [save.id, save.id] })
  t.same(reply.json(), [save.id, save.id])
  t.equal((await alice.call('GET', `/api/screenshots/${save.screenshot?.id}/content`)).statusCode, 404)
  t.equal((await alice.call('GET', `/api/saves/${save.id}`)).statusCode, 404)
  const other = await alice.save({ rom_id: rom }, 'Game.srm', 'two')
  t.not(other.id, save.id)
  t.equal((await alice.call('POST', `/api/saves/${save.id}/restore`)).statusCode, 409)
  await alice.call('POST', '/api/saves/delete', { saves: [other.id] })
  t.match((await alice.call('POST', `/api/saves/${save.id}/restore`)).json(), { id: save.id, screenshot: { id: save.screenshot?.id } })
  t.equal(await contentOf(save.id), 'one')
  t.equal((await alice.call('POST', `/api/saves/${save.id}/restore`)).statusCode, 404)
  t.equal((await alice.call('POST', '/api/saves/delete', { saves: [] })).statusCode, 400)
  t.equal((await alice.call('POST', '/api/saves/delete', { saves: [save.id, 999] })).statusCode, 404)
  t.equal(await contentOf(save.id), 'one', 'nothing is deleted when one is not there')
})

t.test('a picture of several saves stays until the last of them is deleted', async (t) => {
  const rom = await newRom()
  const picture = { name: 'screenshotFile', fileName: 'Game.png', content: PNG }
  const save = await alice.save({ rom_id: rom }, 'Game.srm', 'one', [picture])
  const state = await alice.state({ rom_id: rom }, 'Game.state', 'two')
  t.equal(state.screenshot?.id, save.screenshot?.id)
  await alice.call('POST', '/api/saves/delete', { saves: [save.id] })
  t.equal((await alice.get(`/api/states/${state.id}`)).screenshot?.id, save.screenshot?.id)
  await alice.call('POST', '/api/states/delete', { states: [state.id] })
  t.equal((await alice.call('GET', `/api/screenshots/${save.screenshot?.id}/content`)).statusCode, 404)
})

t.test('deleting saves of several games deletes their pictures', async (t) => {
  const picture = { name: 'screenshotFile', fileName: 'Game.png', content: PNG }
  const saves = await Promise.all([await newRom(), await newRom()].map((rom) => alice.save({ rom_id: rom }, 'Game.srm', 'one', [picture])))
  await alice.call('POST', '/api/saves/delete', { saves: saves.map(({ id }) => id) })
  for (const { screenshot } of saves) t.equal((await alice.call('GET', `/api/screenshots/${screenshot?.id}/content`)).statusCode, 404)
})

t.test('the content hash of a zip depends on its entries only', async (t) => {
  const rom = await newRom()
  const createZip = async (names: string[]) => {
    const zip = new ZipFile()
    for (const name of names) zip.addBuffer(Buffer.from(`content of ${name}`), name, { mtime: new Date(Math.random() * 1e12) })
    zip.end()
    return await buffer(zip.outputStream)
  }
  const lines = ['a.srm', 'b.srm'].map((name) => `${name}:${md5Of(`content of ${name}`)}`)
  const slot = { rom_id: rom, slot: 'zip' }
  const first = await alice.save(slot, 'Game.zip', await createZip(['b.srm', 'a.srm']))
  t.equal(first.content_hash, md5Of(lines.join('\n')))
  t.equal((await alice.save(slot, 'Game.zip', await createZip(['a.srm', 'b.srm']))).id, first.id)
  const { rows: [row] } = await test.app.pg.query<{ disk_path: string }>('select disk_path from assets where id = $1', [first.id])
  await rm(join(test.config.data_dir, 'assets', row?.disk_path ?? ''))
  t.equal((await alice.call('GET', `/api/saves/${first.id}/content`)).statusCode, 404)
  t.equal((await alice.save(slot, 'Game.zip', await createZip(['b.srm', 'a.srm']))).id, first.id)
  t.equal((await alice.call('GET', `/api/saves/${first.id}/content`)).statusCode, 200, 'other bytes with the same content heal it')
  const broken = await alice.save({ rom_id: rom }, 'Broken.zip', 'PK\x03\x04 and nothing more')
  t.equal(broken.content_hash, null)
})

t.test('an update by id replaces content, and a public save shows its picture', async (t) => {
  const rom = await newRom()
  const save = await alice.save({ rom_id: rom, emulator: 'x' }, 'Game.srm', 'one')
  const parts = [
    { name: 'saveFile', fileName: 'Other.srm', content: 'two' }, { name: 'screenshotFile', fileName: 'Game.png', content: PNG }
  ]
  const replaced = (await alice.send('PUT', `/api/saves/${save.id}`, {}, parts)).json<AssetItem>()
  t.match(replaced, { id: save.id, file_name: 'Game.srm', sha1: sha1Of('two'), emulator: 'x', screenshot: { file_name: 'Game.png' } })
  const path = `/api/saves/${save.id}/content`
  t.equal((await bob.call('GET', path)).statusCode, 404)
  t.match((await alice.call('PUT', `/api/saves/${save.id}/visibility`, { is_public: true })).json(), { is_public: true, screenshot: { is_public: true } })
  t.equal((await bob.call('GET', path)).body, 'two')
  t.equal((await bob.call('GET', `/api/screenshots/${replaced.screenshot?.id}/content`)).statusCode, 200)
  t.equal((await bob.call('GET', `/api/saves/${save.id}`)).statusCode, 404, 'all but the content stays its owner’s')
  const detail = await bob.get<Record<string, (AssetItem & { username: string })[]>>(`/api/roms/${rom}`)
  t.match(detail, { user_saves: [], all_user_saves: [{ id: save.id, username: 'alice' }], user_screenshots: [] })
  t.match(await alice.get(`/api/roms/${rom}`), { user_saves: [{ id: save.id }], user_screenshots: [{ file_name: 'Game.png' }], all_user_screenshots: [] })
  const listed = async (client: typeof bob, query: string) =>
    (await client.get<{ items: { id: number }[] }>(`/api/roms?${query}`)).items.map(({ id }) => id)
  t.ok((await listed(bob, 'has_saves=true')).includes(rom))
  t.notOk((await listed(bob, 'has_states=true')).includes(rom))
  await alice.call('PUT', `/api/saves/${save.id}/visibility`, { is_public: false })
  t.notOk((await listed(bob, 'has_saves=true')).includes(rom))
  t.ok((await listed(alice, 'has_saves=true')).includes(rom))
})

t.test('sending the same content again makes a save the newest of its slot', async (t) => {
  const rom = await newRom()
  const [old, newer] = [await alice.save({ rom_id: rom, slot: 'a' }, 'Game.srm', 'one'), await alice.save({ rom_id: rom, slot: 'a' }, 'Game.sav', 'two')]
  const back = (await alice.send('PUT', `/api/saves/${old.id}`, {}, [{ name: 'saveFile', fileName: 'Game.srm', content: 'one' }])).json<AssetItem>()
  t.match(back, { id: old.id, sha1: old.sha1, file_name: old.file_name })
  t.ok(back.updated_at > newer.updated_at)
  t.same(await alice.versions(old.id), [])
  t.match(await alice.get(`/api/saves?rom_id=${rom}&slot=a`), [{ id: old.id }, { id: newer.id }])
  const state = (await alice.send('POST', '/api/states', { rom_id: rom }, [{ name: 'stateFile', fileName: 'Game.state', content: 'one' }])).json<AssetItem>()
  const again = (await alice.send('PUT', `/api/states/${state.id}`, {}, [{ name: 'stateFile', fileName: 'x', content: 'one' }])).json<AssetItem>()
  t.ok(again.updated_at > state.updated_at)
})

t.test('content is served in ranges, as an attachment, and 404 if its file is missing', async (t) => {
  const rom = await newRom()
  const save = await alice.save({ rom_id: rom }, 'Gämé.html', '<script>0123456789</script>')
  const path = `/api/saves/${save.id}/content`
  const whole = await alice.call('GET', `${path}?timestamp=x`)
  t.match(whole.headers, {
    etag: `"${save.sha1}"`,
    'last-modified': new Date(save.updated_at).toUTCString(),
    'content-type': 'application/octet-stream',
    'content-disposition': /^attachment; filename\*=UTF-8''G%C3%A4m%C3%A9.html; filename="G\?m\?.html"$/,
    'x-content-type-options': 'nosniff',
    'content-security-policy': /sandbox/
  })
  const part = await alice.call('GET', path, undefined, { range: 'bytes=8-12', 'if-range': `"${save.sha1}"` })
  t.match(part, { statusCode: 206, body: '01234' })
  t.match(await alice.call('GET', path, undefined, { range: 'bytes=8-12', 'if-range': '"other"' }), { statusCode: 200 })
  t.match(await alice.call('GET', path, undefined, { 'if-none-match': `"${save.sha1}"` }), { statusCode: 304 })
  t.match(await alice.call('HEAD', path), { statusCode: 200, body: '', headers: { 'content-length': '27' } })
  const [file = ''] = (await listStored(test)).filter((name) => name.endsWith('Gämé.html'))
  t.match(file, /\/[\da-f]{8}-Gämé\.html$/)
  const place = join(test.config.data_dir, 'assets', file)
  await rename(place, `${place}.away`)
  t.equal((await alice.call('GET', path)).statusCode, 404)
  t.equal((await alice.get(`/api/saves/${save.id}`)).missing_from_fs, true)
  await rename(`${place}.away`, place)
  t.equal((await alice.call('GET', path)).statusCode, 200)
  t.equal((await alice.get(`/api/saves/${save.id}`)).missing_from_fs, false, 'it is there again')
  await rm(place)
  t.equal((await alice.call('GET', path)).statusCode, 404)
  const back = await alice.save({ rom_id: rom }, 'Gämé.html', '<script>0123456789</script>')
  t.match(back, { id: save.id, missing_from_fs: false, updated_at: save.updated_at })
  t.equal((await alice.call('GET', path)).statusCode, 200)
})

t.test('a state moves to the folder of another emulator, and browsers show only pictures', async (t) => {
  const rom = await newRom()
  const first = await alice.state({ rom_id: rom, emulator: 'a' }, 'Game.state.png', PNG)
  const second = await alice.state({ rom_id: rom, emulator: 'b' }, 'Game.state.png', Buffer.concat([PNG, PNG]))
  t.equal(second.id, first.id)
  t.match(second, { full_path: new RegExp(`/states/snes/${rom}/b/Game.state.png$`), emulator: 'b' })
  t.match((await alice.call('GET', `/api/states/${first.id}/content`)).headers, { 'content-type': 'image/png', 'content-disposition': /^inline/ })
  const state = await alice.state({ rom_id: rom }, 'Game.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>')
  t.match((await alice.call('GET', `/api/states/${state.id}/content`)).headers, {
    'content-type': 'application/octet-stream', 'content-disposition': /^attachment/
  })
  t.same((await alice.get<AssetItem[]>(`/api/states?rom_id=${rom}`)).map(({ id }) => id), [state.id, first.id])
  t.ok((await alice.get<number[]>('/api/states/identifiers')).includes(state.id))
})

t.test('screenshots must be pictures by content, whatever their names are', async (t) => {
  const rom = await newRom()
  const send = (fileName: string, content: string | Buffer) =>
    alice.send('POST', '/api/screenshots', { rom_id: rom }, [{ name: 'screenshotFile', fileName, content }])
  const pixel = sharp({ create: { width: 2, height: 2, channels: 3, background: 'red' } })
  const bmp = Buffer.alloc(58)
  bmp.write('BM')
  bmp.writeInt32LE(40, 14)
  bmp.writeInt32LE(1, 18)
  bmp.writeInt32LE(1, 22)
  const pictures = {
    png: await pixel.png().toBuffer(),
    jpg: await pixel.jpeg().toBuffer(),
    webp: await pixel.webp().toBuffer(),
    gif: await pixel.gif().toBuffer(),
    avif: await pixel.avif().toBuffer(),
    tiff: await pixel.tiff().toBuffer(),
    bmp
  }
  for (const [extension, content] of Object.entries(pictures)) {
    const reply = await send(`Shot.${extension}`, content)
    t.match(reply.json(), { file_name: `Shot.${extension}`, is_gallery: true, is_public: false }, extension)
    const shown = await alice.call('GET', `/api/screenshots/${reply.json<AssetItem>().id}/content`)
    t.match(shown.headers, { 'content-type': /^image\//, 'content-disposition': /^inline/, 'content-security-policy': /sandbox/ })
  }
  const huge = Buffer.from(bmp)
  huge.writeInt32LE(60_000, 18)
  huge.writeInt32LE(60_000, 22)
  for (const [name, content] of [
    ['Shot.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>'], ['Shot.png', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['Shot.png', '<!doctype html><script>alert(1)</script>'], ['Shot.html', PNG], ['Shot', PNG], ['Shot.png', ''], ['Shot.bmp', huge],
    ['Shot.png', PNG.subarray(0, 20)]
  ] as const) {
    t.equal((await send(name, content)).statusCode, 400, name)
  }
  const save = { name: 'saveFile', fileName: 'Game.srm', content: 'x' }
  const withFake = await alice.send('POST', '/api/saves', { rom_id: rom }, [save, { name: 'screenshotFile', fileName: 'a.png', content: '<svg/>' }])
  t.equal(withFake.statusCode, 400)
  t.same(await alice.get(`/api/saves?rom_id=${rom}`), [])
  const withNone = await alice.send('POST', '/api/saves', { rom_id: rom }, [save, { name: 'screenshotFile', fileName: '', content: '' }])
  t.equal(withNone.statusCode, 200)
  const shots = await alice.get<{ user_screenshots: AssetItem[], all_user_screenshots: AssetItem[] }>(`/api/roms/${rom}`)
  t.equal(shots.all_user_screenshots.length, 7)
  const [shot] = shots.user_screenshots
  t.match((await alice.call('PUT', `/api/screenshots/${shot?.id}`, { is_public: true })).json(), { is_public: true })
  t.equal((await bob.get<{ all_user_screenshots: AssetItem[] }>(`/api/roms/${rom}`)).all_user_screenshots.length, 1)
  t.equal((await alice.call('DELETE', `/api/screenshots/${shot?.id}`)).statusCode, 200)
  t.equal((await bob.call('GET', `/api/screenshots/${shot?.id}/content`)).statusCode, 404)
})

t.test('saves of a ROM that is gone stay with their owner and return with the ROM', async (t) => {
  const rom = await newRom()
  const save = await alice.save({ rom_id: rom }, 'Game.srm', 'one')
  await alice.call('PUT', `/api/saves/${save.id}/visibility`, { is_public: true })
  await test.app.pg.query('delete from roms where id = $1', [rom])
  t.notOk((await alice.get<AssetItem[]>('/api/saves')).some(({ id }) => id === save.id))
  t.same((await alice.get<AssetItem[]>('/api/saves?orphaned=true')).map(({ id }) => id), [save.id])
  t.equal(await contentOf(save.id), 'one')
  t.equal((await bob.call('GET', `/api/saves/${save.id}/content`)).statusCode, 404)
  const replaced = await alice.send('PUT', `/api/saves/${save.id}`, {}, [{ name: 'saveFile', fileName: 'x', content: 'two' }])
  t.match(replaced.json(), { rom_id: null, sha1: sha1Of('two') })
})

t.test('additions to a long name cut the end of its stem', async (t) => {
  const rom = await newRom()
  const long = `${'é'.repeat(125)}.srm`
  const tagged = await alice.save({ rom_id: rom, slot: 'long' }, long, 'one')
  t.match(tagged.file_name, /^é{114} \[[-_\d]{19}\]\.srm$/)
  const copy = await alice.save({ rom_id: rom, conflict_of: tagged.id }, long, 'two')
  t.match(copy.file_name, /^é+\.conflict-\d{8}T\d{6}Z-unknown\.srm$/)
  for (const { file_name: name } of [tagged, copy]) t.ok([254, 255].includes(Buffer.byteLength(name)), name)
})

t.test('a save picture and a gallery picture of the same name do not replace each other', async (t) => {
  const rom = await newRom()
  const shot = (content: Buffer) =>
    alice.send('POST', '/api/screenshots', { rom_id: rom }, [{ name: 'screenshotFile', fileName: 'Game.png', content }])
  const other = await sharp({ create: { width: 2, height: 2, channels: 3, background: 'blue' } }).png().toBuffer()
  const gallery = (await shot(PNG)).json<AssetItem>()
  const picture = { name: 'screenshotFile', fileName: 'Game.png', content: other }
  const save = await alice.save({ rom_id: rom }, 'Game.srm', 'one', [picture])
  t.match(save.screenshot, { sha1: undefined, file_name: 'Game.png', is_gallery: false })
  t.not(save.screenshot?.id, gallery.id)
  t.equal((await shot(PNG)).json<AssetItem>().id, gallery.id)
  await alice.call('POST', '/api/saves/delete', { saves: [save.id] })
  t.equal((await alice.call('GET', `/api/screenshots/${gallery.id}/content`)).statusCode, 200)
})

t.test('an upload that would take the last free space is refused before it is read', async (t) => {
  const rom = await newRom()
  const length = { 'content-length': '900000000000000' }
  const reply = await alice.send('POST', '/api/saves', { rom_id: rom }, [{ name: 'saveFile', fileName: 'x', content: 'x' }], length)
  t.equal(reply.statusCode, 507)
  t.match(reply.json(), { detail: /free/ })
})

t.test('a hidden ROM hides its saves, from their owner too', async (t) => {
  const rom = await newRom()
  const save = await bob.save({ rom_id: rom }, 'Game.srm', 'one')
  await test.app.pg.query(`insert into hidden_entities (entity, entity_id, user_id)
    select 'roms', $1, id from users where username = 'bob'`, [rom])
  t.same(await bob.get(`/api/saves?rom_id=${rom}`), [])
  for (const path of [`/api/saves/${save.id}`, `/api/saves/${save.id}/content`, `/api/saves/${save.id}/versions`]) {
    t.equal((await bob.call('GET', path)).statusCode, 404, path)
  }
  const reply = await bob.send('POST', '/api/saves', { rom_id: rom }, [{ name: 'saveFile', fileName: 'x', content: 'x' }])
  t.equal(reply.statusCode, 404)
})

t.test('deleting needs the grant to delete; a named device needs the scope for devices', async (t) => {
  const rom = await newRom()
  const save = await bob.save({ rom_id: rom }, 'Game.srm', 'one')
  await test.app.pg.query(`insert into permission_overrides (user_id, entity, action, granted)
    select id, 'assets', 'delete', false from users where username = 'bob'`)
  t.equal((await bob.call('POST', '/api/saves/delete', { saves: [save.id] })).statusCode, 403)
  const device = await addDevice(test, 'alice', 'Deck')
  const token = await test.app.inject({
    method: 'POST', url: '/api/client-tokens', headers: aliceHeaders, payload: { name: 'x', scopes: ['assets.read', 'assets.write'] }
  })
  const app = createClient(test, { authorization: `Bearer ${token.json<{ raw_token: string }>().raw_token}` })
  const part = { name: 'saveFile', fileName: 'Game.srm', content: 'x' }
  t.equal((await app.send('POST', '/api/saves', { rom_id: rom, device_id: device.id }, [part])).statusCode, 403)
  t.equal((await app.send('POST', '/api/saves', { rom_id: rom }, [part])).statusCode, 200)
  t.equal((await app.call('GET', `/api/saves?device_id=${device.id}`)).statusCode, 403)
  t.equal((await bob.call('GET', `/api/saves?device_id=${device.id}`)).statusCode, 404)
})
