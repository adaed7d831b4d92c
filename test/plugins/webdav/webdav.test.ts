import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm, truncate } from 'node:fs/promises'
import { type IncomingMessage, request as sendRequest } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createFsStore } from '../../../core/store/fs-store.ts'
import { readMd5 } from '../../../plugins/webdav/sync/read-md5.ts'
import type { TestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { type AssetItem, PNG, createClient, md5Of } from '../assets/support.ts'
import { addRom } from '../roms/support.ts'
import { RetroArch } from './retroarch.ts'
import { addGame, baseOf, basicOf, createRetroArch, createToken } from './support.ts'
import { ONE, SAVE, THREE, TWO, listFiles, listSaves, startWebdav } from './webdav-support.ts'

const { fresh, start } = await startWebdav(t)

const DEPTH = { depth: '1' }

/** Starts with a save that both devices have. */
async function startWithSave (t: Test) {
  const started = await start(t)
  const { test, deck, phone } = started
  await addGame(test)
  deck.files.set(SAVE, ONE)
  await deck.sync()
  await phone.sync()
  return started
}

t.test('a save of one device reaches the other as the save of its game', async (t) => {
  const { test, deck, phone, client } = await start(t)
  const romId = await addGame(test)
  deck.files.set(SAVE, ONE)
  await deck.sync()
  t.match(await listSaves(client), [{ rom_id: romId, file_name: 'Game (USA).srm', emulator: 'snes9x', slot: 'autosave' }])
  await phone.sync()
  t.same(phone.files.get(SAVE), ONE)
  phone.files.set(SAVE, TWO)
  await phone.sync()
  await deck.sync()
  t.same(deck.files.get(SAVE), TWO)
  const [save] = await listSaves(client)
  t.equal((await client.versions(save?.id ?? 0)).length, 1, 'the former content is a version')
})

t.test('a save that changed on two devices is kept twice and goes on with the first', async (t) => {
  const { deck, phone, client } = await startWithSave(t)
  deck.files.set(SAVE, TWO)
  phone.files.set(SAVE, THREE)
  await deck.sync()
  for (let round = 0; round < 5; round++) await phone.sync()
  t.same([deck.files.get(SAVE), phone.files.get(SAVE)], [TWO, TWO])
  const saves = await listSaves(client)
  t.same(saves.map(({ conflict_of: of }) => of !== null).sort(), [false, true])
  const copy = saves.find(({ conflict_of: of }) => of !== null)
  t.equal(await client.content(`/api/saves/${copy?.id}/content`), 'three')
})

t.test('a save that another device replaced after the list was read stays', async (t) => {
  const { deck, phone, client } = await startWithSave(t)
  deck.files.set(SAVE, TWO)
  phone.files.set(SAVE, THREE)
  await deck.sync({ between: () => phone.sync() })
  const save = (await listSaves(client)).find(({ conflict_of: of }) => of === null)
  t.equal(await client.content(`/api/saves/${save?.id}/content`), 'three')
  await deck.sync()
  t.same(deck.files.get(SAVE), THREE, 'the next sync brings the newer save')
})

t.test('an app that uploads to the slot replaces the save of RetroArch', async (t) => {
  const { test, deck, client } = await start(t)
  const romId = await addGame(test)
  deck.files.set(SAVE, ONE)
  await deck.sync()
  await client.save({ rom_id: romId, slot: 'autosave', emulator: 'snes9x', overwrite: true }, 'Game (USA).srm', 'from the app')
  await deck.sync()
  t.equal(deck.files.get(SAVE)?.toString(), 'from the app')
  deck.files.set(SAVE, TWO)
  await deck.sync()
  const [newest] = await listSaves(client)
  t.equal(await client.content(`/api/saves/${newest?.id}/content`), 'two')
})

t.test('a save of another app is offered in the folder of a core that was used', async (t) => {
  const { test, deck, phone, client } = await start(t)
  const other = await addGame(test, 'Other')
  await addGame(test)
  await client.save({ rom_id: other, slot: 'main', emulator: 'snes9x' }, 'Other.srm', 'from the app')
  await client.save({ rom_id: other, emulator: 'bsnes' }, 'Other.srm', 'of a core that nobody uses')
  deck.files.set(SAVE, ONE)
  await deck.sync()
  await phone.sync()
  t.same([...phone.files].map(([path, content]) => [path, content.toString()]).sort(),
    [[SAVE, 'one'], ['saves/Snes9x/Other.srm', 'from the app']])
})

t.test('saves of two cores with the same name stay two saves', async (t) => {
  const { test, deck, phone, client } = await start(t)
  await addGame(test)
  deck.files.set(SAVE, ONE)
  deck.files.set('saves/bsnes/Game (USA).srm', TWO)
  deck.files.set('states/Snes9x/Game (USA).state', ONE)
  deck.files.set('states/bsnes/Game (USA).state', TWO)
  await deck.sync()
  await phone.sync()
  t.same([...phone.files].map(([path, content]) => `${path}: ${content.toString()}`).sort(), [
    'saves/Snes9x/Game (USA).srm: one', 'saves/bsnes/Game (USA).srm: two',
    'states/Snes9x/Game (USA).state: one', 'states/bsnes/Game (USA).state: two'
  ])
  t.equal(new Set((await listSaves(client)).map((save) => save.file_name)).size, 2)
})

t.test('the picture of a state is shown with it', async (t) => {
  const { test, deck, phone, client } = await start(t)
  await addGame(test)
  deck.files.set('states/Snes9x/Game (USA).state1.png', PNG)
  deck.files.set('states/Snes9x/Game (USA).state1', ONE)
  deck.files.set('states/Snes9x/Game (USA).state2.png', Buffer.from('<svg onload="alert(1)"/>'))
  await deck.sync()
  t.match(await client.get<AssetItem[]>('/api/states'), [{ file_name: 'Game (USA).state1', screenshot: { file_name: 'Game (USA).state1.png' } }])
  await phone.sync()
  t.equal(phone.files.size, 3, 'a picture that is none reaches the other device all the same')
})

t.test('a deleted save disappears on the other device and can be restored', async (t) => {
  const { deck, phone, client } = await startWithSave(t)
  deck.files.delete(SAVE)
  await deck.sync()
  await phone.sync()
  t.equal(phone.files.size, 0)
  const [file] = await listFiles(client)
  t.match(file, { is_deleted: true })
  t.equal((await client.call('POST', `/api/webdav/files/${file?.id}/restore`)).statusCode, 200)
  await deck.sync()
  await phone.sync()
  t.same([deck.files.get(SAVE), phone.files.get(SAVE)], [ONE, ONE])
})

t.test('a device does not delete a save that another one replaced', async (t) => {
  const { deck, phone } = await startWithSave(t)
  deck.files.delete(SAVE)
  phone.files.set(SAVE, TWO)
  await deck.sync({ between: () => phone.sync() })
  await phone.sync()
  t.same(phone.files.get(SAVE), TWO)
  await deck.sync()
  t.same(deck.files.get(SAVE), TWO)
})

t.test('a configuration stays when its replacement is rolled back', async (t) => {
  const { test, deck } = await start(t)
  const path = 'config/retroarch.opt'
  await deck.put(path, ONE)
  await test.app.pg.query(`create function refuse () returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before insert on webdav_listings execute function refuse()`)
  try {
    t.not((await deck.put(path, TWO)).status, 201)
  } finally {
    await test.app.pg.query('drop trigger refuse on webdav_listings; drop function refuse')
  }
  t.match(await deck.send('GET', path), { status: 200, body: ONE })
})

t.test('a list does not overwrite an upload that it did not see', async (t) => {
  const { test: { app }, deck } = await start(t)
  await deck.put(SAVE, ONE)
  await deck.delete(SAVE)
  const upload = await app.pg.connect()
  try {
    await upload.query("begin; update webdav_files set sha1 = 'new', updated_at = clock_timestamp() + interval '1 second'")
    const list = deck.readList()
    await until(async () => (await app.pg.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")).rowCount === 1, 'a waiting list')
    await upload.query('commit')
    await list
  } finally {
    upload.release()
  }
  t.same((await app.pg.query('select sha1 from webdav_files')).rows, [{ sha1: 'new' }])
})

t.test('a save without a game is kept, listed, and assigned after its game appears', async (t) => {
  const { test, deck, phone, client } = await start(t)
  deck.files.set(SAVE, ONE)
  await deck.sync()
  await phone.sync()
  phone.files.set(SAVE, TWO)
  await phone.sync()
  await deck.sync()
  t.same(deck.files.get(SAVE), TWO)
  t.match(await listFiles(client, '/unassigned'), [{ path: SAVE, rom_id: null, candidates: [] }])
  const romId = await addGame(test)
  const [file] = await listFiles(client, '/unassigned')
  t.match(file, { candidates: [{ rom_id: romId }] })
  const reply = await client.call('PUT', `/api/webdav/files/${file?.id}/rom`, { rom_id: romId })
  t.match(reply.json(), { rom_id: romId })
  const [save] = await listSaves(client)
  t.match(save, { rom_id: romId, slot: 'autosave' })
  t.equal((await client.versions(save?.id ?? 0)).length, 1)
  deck.files.set(SAVE, THREE)
  await deck.sync()
  t.equal(await client.content(`/api/saves/${save?.id}/content`), 'three')
})

t.test('a save that was deleted without a game gets its game when it is sent again', async (t) => {
  const { test, deck, client } = await start(t)
  await deck.put(SAVE, ONE)
  await deck.delete(SAVE)
  const romId = await addGame(test)
  await deck.put(SAVE, TWO)
  t.match(await listFiles(client), [{ path: SAVE, rom_id: romId }])
})

t.test('configurations and other files reach the other device within the quota', async (t) => {
  const { deck, phone } = await start(t)
  deck.files.set('config/Snes9x/Snes9x.opt', Buffer.from('a = "1"'))
  deck.files.set('system/bios.bin', randomBytes(4_000))
  await deck.sync()
  await phone.sync()
  t.same(phone.files, deck.files)
  const reply = await deck.put('system/large.bin', randomBytes(200))
  t.match(reply, { status: 507, body: Buffer.alloc(0) })
  t.equal((await deck.put('system/bios.bin', randomBytes(4_050))).status, 201, 'a replaced file does not count')
})

t.test('responses are as RetroArch needs them', async (t) => {
  const { test, deck } = await start(t)
  await addGame(test)
  t.match(await deck.send('OPTIONS', ''), { status: 200, headers: { allow: /PUT/, dav: '1', 'content-length': '0', connection: 'close' } })
  t.match(await deck.send('GET', 'manifest.server'), { status: 200, body: Buffer.from('[]') })
  t.match(await deck.send('MKCOL', 'saves/Snes9x/'), { status: 201, headers: { 'content-length': '0' } })
  t.match(await deck.send('GET', SAVE), { status: 410, body: Buffer.alloc(0), headers: { 'content-length': '0' } })
  t.match(await deck.put(SAVE, ONE), { status: 201, headers: { 'content-length': '0' } })
  t.match(await deck.send('PUT', 'manifest.server', Buffer.from('[]')), { status: 201 })
  t.same(JSON.parse((await deck.send('GET', 'manifest.server')).body.toString()), [{ path: SAVE, hash: md5Of('one') }])
  t.match(await deck.send('GET', SAVE), { status: 200, body: ONE, headers: { 'content-length': '3' } })
  for (const name of ['first', 'again']) t.match(await deck.delete(SAVE), { status: 201 }, name)
  t.equal((await deck.send('MOVE', SAVE, undefined, { destination: `${await baseOf(test)}saves/other` })).status, 403)
  const wrong = new RetroArch(await baseOf(test), 'Basic YWRtaW46d3Jvbmc=')
  t.match(await wrong.send('OPTIONS', ''), { status: 401, body: Buffer.alloc(0), headers: { 'www-authenticate': /^Basic /, connection: 'close' } })
  wrong.close()
})

t.test('a name that is not UTF-8 is refused without a body', async (t) => {
  const { test, deck } = await start(t)
  const base = await baseOf(test)
  for (const address of [`${base}saves/Snes9x/%83%7D.srm`, `${base.replace('webdav', 'api/cloud-sync')}saves/%FF.srm`]) {
    for (const method of ['GET', 'PUT', 'MKCOL', 'DELETE']) {
      const reply = await fetch(address, { method, headers: { 'user-agent': 'libretro' } })
      t.match([reply.status, await reply.text(), reply.headers.get('content-length'), reply.headers.get('connection')],
        [400, '', '0', 'close'], `${method} ${address}`)
    }
  }
  t.match(await deck.put(SAVE, ONE), { status: 201 })
})

t.test('a client of RomM finds the sync at its address there', async (t) => {
  const test = await fresh(t)
  await addGame(test)
  const { authorization } = await createToken(test, test.admin, 'Deck')
  const base = (await baseOf(test)).replace('webdav', 'api/cloud-sync')
  const deck = new RetroArch(base, authorization)
  t.teardown(() => { deck.close() })
  deck.files.set(SAVE, ONE)
  await deck.sync()
  const client = createClient(test, test.admin)
  t.match(await listSaves(client), [{ file_name: 'Game (USA).srm' }])
  const { body } = await deck.send('PROPFIND', '', undefined, DEPTH)
  t.match(body.toString(), /<D:href>\/api\/cloud-sync\/saves\/</)
  deck.files.delete(SAVE)
  await deck.sync()
  t.match(await listSaves(client), [])
})

t.test('a program that replaces its own upload without a list replaces the save', async (t) => {
  const { test, deck, client } = await start(t)
  await addGame(test)
  for (const content of [ONE, TWO]) await deck.put(SAVE, content)
  const saves = await listSaves(client)
  t.equal(saves.length, 1)
  t.equal(await client.content(`/api/saves/${saves[0]?.id}/content`), 'two')
})

t.test('an empty file is accepted and replaces nothing', async (t) => {
  const { test, deck, client } = await start(t)
  await addGame(test)
  deck.files.set(SAVE, ONE)
  await deck.sync()
  deck.files.set(SAVE, Buffer.alloc(0))
  await deck.sync()
  await deck.sync()
  t.same(deck.files.get(SAVE), ONE)
  t.equal((await listSaves(client)).length, 1)
})

t.test('a part of a file is refused and replaces nothing', async (t) => {
  const { test, deck, phone } = await startWithSave(t)
  const { authorization } = await createToken(test, test.admin, 'Computer')
  const put = await fetch(`${await baseOf(test)}${SAVE}`, {
    method: 'PUT', headers: { authorization, 'content-range': 'bytes 0-1/3' }, body: 'tw'
  })
  t.same([put.status, await put.text()], [400, ''])
  await phone.sync()
  await deck.sync()
  t.same([deck.files.get(SAVE), phone.files.get(SAVE)], [ONE, ONE])
})

t.test('a file that is announced as too large is refused before it is read', async (t) => {
  const { test } = await start(t)
  const { authorization } = await createToken(test, test.admin, 'Computer')
  const request = sendRequest(`${await baseOf(test)}${SAVE}`, {
    method: 'PUT', headers: { authorization, 'content-length': 512 * 1024 ** 2 + 1 }
  })
  t.teardown(() => request.destroy())
  request.on('error', () => {}).flushHeaders()
  const [{ statusCode }] = await once(request, 'response') as [IncomingMessage]
  t.equal(statusCode, 413)
})

t.test('a write whose precondition fails changes nothing', async (t) => {
  const { test } = await start(t)
  await addGame(test)
  const { authorization } = await createToken(test, test.admin, 'Computer')
  const base = await baseOf(test)
  const send = async (method: string, path: string, headers: Record<string, string>, body?: string) =>
    (await fetch(`${base}${path}`, { method, headers: { authorization, ...headers }, ...(body === undefined ? {} : { body }) })).status
  const destination = { destination: `${base}deleted/x` }
  for (const path of [SAVE, 'config/retroarch.opt']) {
    const read = async () => (await fetch(`${base}${path}`, { headers: { authorization } }))
    t.equal(await send('PUT', path, { 'if-match': '*' }, 'zero'), 412, 'there is no file')
    t.equal(await send('PUT', path, { 'if-none-match': '*' }, 'one'), 201)
    t.equal(await send('PUT', path, { 'if-none-match': '*' }, 'two'), 412)
    const { headers } = await read()
    const [etag, at] = [headers.get('etag') ?? '', headers.get('last-modified') ?? '']
    t.equal(await send('PUT', path, { 'if-match': etag }, 'two'), 201)
    t.equal(await send('PUT', path, { 'if-match': etag }, 'three'), 412)
    t.equal(await send('PUT', path, { 'if-unmodified-since': new Date(Date.parse(at) - 10_000).toUTCString() }, 'three'), 412)
    t.equal(await send('DELETE', path, { 'if-match': etag }), 412)
    t.equal(await send('MOVE', path, { 'if-match': etag, ...destination }), 412)
    t.equal(await (await read()).text(), 'two')
    t.equal(await send('DELETE', path, { 'if-match': (await read()).headers.get('etag') ?? '' }), 200)
    t.equal((await read()).status, 410)
    t.equal(await send('PUT', path, { 'if-none-match': '*' }, 'four'), 201, 'a deleted file does not exist')
  }
})

t.test('a zip is listed with the hash of its bytes', async (t) => {
  const { test, deck } = await start(t)
  await addGame(test, 'Dos', 'dos', 'zip')
  const zip = Buffer.concat([Buffer.from('PK\x05\x06'), Buffer.alloc(18)])
  await deck.put('saves/DOSBox-pure/Dos.pure.zip', zip)
  await test.app.pg.query('update webdav_files set md5 = null')
  t.same([...await deck.readList()], [['saves/DOSBox-pure/Dos.pure.zip', md5Of(zip)]])
})

const HOSTILE = ['saves/../../etc/passwd', 'saves/./x', 'saves//x', 'saves/a\u0000b', 'saves/a\nb', 'saves', 'other/file', `saves/${'x'.repeat(300)}`,
  `saves/${'y/'.repeat(600)}z`, 'deleted/saves/x', `saves/${'%2e%2e/'.repeat(3)}${'\u202e'}`.replace('%2e%2e/', '../')]
t.test('hostile paths are refused without a trace', async (t) => {
  const { test, deck } = await start(t)
  for (const path of HOSTILE) {
    const { status, body } = await deck.send('PUT', path, ONE)
    t.ok(status >= 400 && status < 500, `${JSON.stringify(path.slice(0, 40))}: ${status}`)
    t.equal(body.length, 0)
  }
  t.equal((await test.app.pg.query('select 1 from webdav_files')).rowCount, 0)
})

t.test('other users and tokens without the scopes reach nothing', async (t) => {
  const { test, deck, client } = await start(t)
  await addGame(test)
  await deck.put(SAVE, ONE)
  const bob = await test.createUser('bob')
  const foreign = await createRetroArch(t, test, bob, 'Foreign')
  t.same([...await foreign.readList()], [])
  t.equal((await foreign.send('GET', SAVE)).status, 410)
  const [file] = await listFiles(client)
  const bobs = createClient(test, bob)
  t.equal((await bobs.call('POST', `/api/webdav/files/${file?.id}/restore`)).statusCode, 404)
  const reader = new RetroArch(await baseOf(test), (await createToken(test, test.admin, 'Reader', ['assets.read'])).authorization)
  t.equal((await reader.send('PUT', SAVE, TWO)).status, 403)
  t.equal((await reader.send('GET', 'library/')).status, 403)
  reader.close()
})

t.test('a hidden game refuses its saves and keeps them listed', async (t) => {
  const test = await fresh(t)
  const bob = await test.createUser('bob')
  const device = await createRetroArch(t, test, bob, 'Deck')
  const romId = await addGame(test)
  await device.put(SAVE, ONE)
  await test.app.pg.query(`insert into hidden_entities (entity, entity_id, user_id)
    select 'roms', $1, id from users where username = 'bob'`, [romId])
  t.equal((await device.readList()).get(SAVE), md5Of('one'))
  t.equal((await device.put(SAVE, TWO)).status, 403)
  t.equal((await device.send('GET', SAVE)).status, 410)
  t.match(await listFiles(createClient(test, bob)), [{ path: SAVE, rom_id: null }], 'its id is not shown')
})

t.test('a HEAD request changes nothing', async (t) => {
  const { test, deck, phone, client } = await start(t)
  const other = await addGame(test, 'Other')
  await addGame(test)
  await deck.put(SAVE, ONE)
  await client.save({ rom_id: other, slot: 'main', emulator: 'snes9x' }, 'Other.srm', 'from the app')
  const unbound = new RetroArch(await baseOf(test), (await createToken(test, test.admin, null)).authorization)
  t.teardown(() => { unbound.close() })
  const before = await readStored(test)
  for (const device of [phone, unbound]) {
    for (const path of ['manifest.server', SAVE]) t.match(await device.send('HEAD', path), { status: 200, body: Buffer.alloc(0) }, path)
    t.equal((await device.send('HEAD', 'saves/Snes9x/Other.srm')).status, 410)
  }
  t.same(await readStored(test), before)
})

t.test('a save whose content cannot be read is not listed as deleted', async (t) => {
  const { test, deck, phone } = await start(t)
  const { app, config } = test
  await addGame(test)
  const zip = Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(100)])
  await deck.put(SAVE, zip)
  await deck.put('saves/Snes9x/Other.srm', ONE)
  const { rows: [asset] } = await app.pg.query<{ disk_path: string }>("select disk_path from assets where file_name = 'Game (USA).srm'")
  const path = join(config.data_dir, 'assets', asset?.disk_path ?? '')
  for (const damage of [() => truncate(path, 50), () => rm(path)]) {
    await damage()
    await app.pg.query('update webdav_files set md5 = null')
    for (const device of [deck, phone]) t.same([...await device.readList()], [['saves/Snes9x/Other.srm', md5Of('one')]])
  }
})

t.test('games of saves are shown only to callers that may see them', async (t) => {
  const test = await fresh(t)
  const bob = await test.createUser('bob')
  const device = await createRetroArch(t, test, bob, 'Deck')
  await device.put(SAVE, ONE)
  const romId = await addGame(test)
  const client = createClient(test, bob)
  t.match(await listFiles(client, '/unassigned'), [{ candidates: [{ rom_id: romId }] }])
  for (const entity of ['roms', 'platforms']) {
    await test.app.pg.query(`insert into hidden_entities (entity, entity_id, user_id)
      select $1, r.${entity === 'roms' ? 'id' : 'platform_id'}, u.id from roms r, users u where u.username = 'bob'`, [entity])
    t.match(await listFiles(client, '/unassigned'), [{ candidates: [] }], entity)
    await test.app.pg.query('delete from hidden_entities')
  }
  const read = async (scopes: string[]) => {
    const reply = await test.app.inject({ method: 'POST', url: '/api/client-tokens', headers: bob, payload: { name: scopes.join(' '), scopes } })
    const { raw_token: token } = reply.json<{ raw_token: string }>()
    return await test.app.inject({ url: '/api/webdav/files/unassigned', headers: { authorization: `Bearer ${token}` } })
  }
  t.equal((await read(['assets.read'])).statusCode, 403)
  t.match((await read(['assets.read', 'roms.read'])).json(), [{ candidates: [{ rom_id: romId }] }])
})

const GAME = 'library/snes/Game (USA).sfc'
const REQUESTS: [method: string, path: string][] = [
  ['OPTIONS', ''], ['PROPFIND', ''], ['PROPFIND', 'saves'], ['GET', 'manifest.server'], ['HEAD', 'manifest.server'], ['GET', SAVE],
  ['HEAD', SAVE], ['PUT', SAVE], ['PUT', 'manifest.server'], ['MKCOL', 'saves/x/'], ['MOVE', SAVE], ['DELETE', SAVE], ['OPTIONS', 'library'],
  ['PROPFIND', 'library'], ['GET', GAME], ['HEAD', GAME]
]

/** Sends every request, each as a program would, and returns the statuses. */
async function sendAll (test: TestApp, authorization: string): Promise<number[]> {
  const base = await baseOf(test)
  const device = new RetroArch(base, authorization)
  const statuses = []
  for (const [method, path] of REQUESTS) {
    const headers = { depth: '1', ...(method === 'MOVE' ? { destination: `${base}deleted/${SAVE}` } : {}) }
    const { status, headers: { 'www-authenticate': challenge } } = await device.send(method, path, method === 'PUT' ? TWO : undefined, headers)
    if (String(challenge).startsWith('Basic') !== (status === 401)) throw new Error(`${method} ${path} ${status}: ${String(challenge)}`)
    statuses.push(status)
  }
  device.close()
  return statuses
}

/** Returns everything that the sync stored. */
const readStored = async ({ app }: TestApp) => (await app.pg.query(`select (select json_agg(f order by f.id) from webdav_files f) as files,
  (select json_agg(l order by l.device_id, l.file_id) from webdav_listings l) as listings,
  (select json_agg(a order by a.id) from assets a) as assets, (select json_agg(d.id order by d.id) from devices d) as devices`)).rows

t.test('requests without a valid credential are challenged and change nothing', async (t) => {
  const { test, deck } = await start(t)
  const { app } = test
  await addGame(test)
  await deck.put(SAVE, ONE)
  const [bob, eve] = [await test.createUser('bob'), await test.createUser('eve')]
  const [expired, revoked] = [await createToken(test, bob, null), await createToken(test, bob, null)]
  const disabled = await createToken(test, eve, null)
  await app.pg.query(`update client_tokens set expires_at = now() - interval '1 second' where id = (select min(id) from client_tokens
    where user_id = (select id from users where username = 'bob'))`)
  await app.pg.query(`delete from client_tokens where id = (select max(id) from client_tokens
    where user_id = (select id from users where username = 'bob'))`)
  await app.pg.query("update users set enabled = false where username = 'eve'")
  const before = await readStored(test)
  const credentials = {
    none: '',
    unknown: basicOf('x', `svc_${'0'.repeat(64)}`),
    expired: expired.authorization,
    revoked: revoked.authorization,
    disabled: disabled.authorization
  }
  for (const [name, authorization] of Object.entries(credentials)) {
    t.same(await sendAll(test, authorization), REQUESTS.map(() => 401), name)
  }
  // More wrong passwords would get 429.
  const device = new RetroArch(await baseOf(test), eve.authorization)
  t.match(await device.send('PUT', SAVE, TWO), { status: 401, headers: { 'www-authenticate': /^Basic / } }, 'a password of a disabled account')
  device.close()
  t.same(await readStored(test), before)
})

t.test('a token with one scope gets as far as its scope', async (t) => {
  const test = await fresh(t, { library: { roms: { snes: { 'Game (USA).sfc': 'a game' } } } })
  const deck = await createRetroArch(t, test, test.admin, 'Deck')
  await addGame(test)
  await deck.put(SAVE, ONE)
  const statuses: Record<string, number[]> = {}
  for (const scope of ['me.read', 'assets.read', 'roms.read', 'assets.write']) {
    const before = await readStored(test)
    const { authorization } = await createToken(test, test.admin, null, [scope])
    statuses[scope] = await sendAll(test, authorization)
    if (scope === 'me.read' || scope === 'roms.read') t.same(await readStored(test), before, scope)
  }
  t.same(statuses, {
    'me.read': [403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403],
    'assets.read': [200, 207, 207, 200, 200, 200, 200, 403, 403, 403, 403, 403, 403, 403, 403, 403],
    'roms.read': [200, 207, 403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 200, 207, 200, 200],
    'assets.write': [403, 403, 403, 403, 403, 403, 403, 201, 201, 201, 201, 200, 403, 403, 403, 403]
  })
})

t.test('a device that only receives gives its side of a conflict as a version', async (t) => {
  const { test, deck, phone, client } = await start(t)
  await addGame(test)
  await test.app.pg.query("update devices set sync_mode = 'pull_only' where name = 'Phone'")
  deck.files.set(SAVE, ONE)
  phone.files.set(SAVE, TWO)
  await deck.sync()
  for (let round = 0; round < 5; round++) await phone.sync()
  t.same([deck.files.get(SAVE), phone.files.get(SAVE)], [ONE, ONE])
  const [save, ...copies] = await listSaves(client)
  t.same(copies, [])
  t.match(await client.versions(save?.id ?? 0), [{ content_hash: md5Of('two') }])
  t.equal((await phone.put(SAVE, THREE)).status, 403, 'its own changes stay on it')
  t.equal((await phone.put('config/a.cfg', THREE)).status, 403)
  const picture = 'states/Snes9x/Game (USA).state.png'
  await deck.put(picture, PNG)
  t.equal((await phone.put(picture, Buffer.concat([PNG, ONE]))).status, 403, 'pictures have no versions')
  t.match(await deck.send('GET', picture), { status: 200, body: PNG })
})

t.test('a save finds its game by the names of its files and archive members', async (t) => {
  const { test, deck, client } = await start(t)
  const members = [{ name: 'sub/Inner Name.sfc' }, { name: 'readme.txt' }]
  const archive = await addGame(test, 'Outer', 'snes', 'zip')
  await test.app.pg.query('update rom_files set archive_members = $1 where rom_id = $2', [JSON.stringify(members), archive])
  const folder = await addRom(test, { fs_name: 'Folder.v2', files: ['Disc One.cue'] })
  const packed = await addRom(test, { fs_name: 'Packed.tar.gz' })
  const cases: [path: string, romId: number][] = [
    ['saves/Snes9x/packed.TAR.gz.srm', packed], ['saves/Snes9x/Packed.srm', packed],
    ['saves/Snes9x/outer.srm', archive], ['saves/Snes9x/Inner Name.srm', archive], ['states/Snes9x/INNER NAME.state', archive],
    ['saves/Snes9x/Disc One.srm', folder], ['saves/Snes9x/Folder.v2.srm', folder]
  ]
  for (const [path] of cases) await deck.put(path, ONE)
  const found = new Map((await listFiles(client)).map(({ path, rom_id: romId }) => [path, romId]))
  for (const [path, romId] of cases) t.equal(found.get(path), romId, path)
})

t.test('a file is closed when reading its content fails', async (t) => {
  const store = createFsStore(t.testdir())
  for (const [hash, content] of [['hash', 'save'], [null, 'PK\x03\x04'], [null, 'save']] as const) {
    await store.put('assets/save', Buffer.from(content))
    const object = await store.get('assets/save')
    if (object === null) throw new Error('There is a file')
    await t.rejects(readMd5(object, 100, hash), { code: 'CONFLICT' })
    t.equal(object.handle?.fd, -1)
  }
})

t.test('a device whose sync is off, or that only receives, sends nothing', async (t) => {
  const { test, deck, phone } = await start(t)
  await test.app.pg.query("update devices set sync_enabled = false where name = 'Deck'")
  await test.app.pg.query("update devices set sync_mode = 'pull_only' where name = 'Phone'")
  t.equal((await deck.send('GET', 'manifest.server')).status, 400)
  t.equal((await phone.put(SAVE, ONE)).status, 403)
  t.same([...await phone.readList()], [])
})

t.test('the password of the account works, as one device for all programs', async (t) => {
  const test: TestApp = await fresh(t)
  await addGame(test)
  const device = new RetroArch(await baseOf(test), test.admin.authorization)
  t.teardown(() => { device.close() })
  device.files.set(SAVE, ONE)
  await device.sync()
  const client = createClient(test, test.admin)
  t.match(await listSaves(client), [{ file_name: 'Game (USA).srm' }])
  t.match(await client.get('/api/devices'), [{ name: 'RetroArch (password)', client: 'retroarch' }])
})

t.test('the library is a tree of files that can be read in parts', async (t) => {
  const test = await fresh(t, { library: { roms: { snes: { 'A & B.sfc': '0123456789', Multi: { 'disc 1.bin': 'first', sub: { x: 'inner' } } } } } })
  await addGame(test, 'A & B')
  await test.app.pg.query('update rom_files set file_size_bytes = 10')
  await addRom(test, { fs_name: 'Multi', files: ['disc 1.bin', 'sub/x'] })
  const { authorization } = await createToken(test, test.admin, null, ['roms.read'])
  const device = new RetroArch(await baseOf(test), authorization)
  t.teardown(() => { device.close() })
  const list = async (path: string) => {
    const { status, body } = await device.send('PROPFIND', path, undefined, DEPTH)
    return { status, hrefs: [...body.toString().matchAll(/<D:href>([^<]*)/g)].map(([, href]) => href), text: body.toString() }
  }
  t.match(await list(''), { status: 207, hrefs: ['/webdav/', '/webdav/library/'] })
  t.match(await list('library'), { status: 207, hrefs: ['/webdav/library/', '/webdav/library/snes/'] })
  t.match(await list('library/snes/'), { hrefs: ['/webdav/library/snes/', '/webdav/library/snes/A%20%26%20B.sfc', '/webdav/library/snes/Multi/'], text: /A &amp; B/ })
  t.match(await list('library/snes/Multi'), { hrefs: ['/webdav/library/snes/Multi/', '/webdav/library/snes/Multi/disc%201.bin', '/webdav/library/snes/Multi/sub/'] })
  t.match(await list('library/snes/Multi/sub/x'), { status: 207, hrefs: ['/webdav/library/snes/Multi/sub/x'] })
  t.equal((await list('library/gba')).status, 404)
  t.equal((await device.send('PROPFIND', 'library', undefined, { depth: 'infinity' })).status, 403)
  const whole = await device.send('GET', 'library/snes/A & B.sfc')
  t.match(whole, { status: 200, body: Buffer.from('0123456789') })
  t.match(await device.send('GET', 'library/snes/A & B.sfc', undefined, { range: 'bytes=3-5' }), { status: 206, body: Buffer.from('345') })
  t.equal((await device.send('GET', 'library/snes/A & B.sfc', undefined, { 'if-none-match': String(whole.headers.etag) })).status, 304)
  t.match(await device.send('HEAD', 'library/snes/Multi/sub/x'), { status: 200, headers: { 'content-length': '5' } })
  t.equal((await device.send('GET', 'library/snes/Multi')).status, 404)
  const writer = new RetroArch(await baseOf(test), (await createToken(test, test.admin, null, ['roms.read', 'assets.write'])).authorization)
  t.teardown(() => { writer.close() })
  for (const method of ['PUT', 'MKCOL', 'DELETE', 'MOVE']) {
    const { status, body } = await writer.send(method, 'library/snes/x.sfc', ONE)
    t.match({ status, text: body.toString() }, { status: 403, text: /read-only/ }, method)
  }
})

t.test('a hidden platform is not in the tree', async (t) => {
  const test = await fresh(t)
  await addGame(test)
  const bob = await test.createUser('bob')
  await test.app.pg.query(`insert into hidden_entities (entity, entity_id, user_id)
    select 'platforms', p.id, u.id from platforms p, users u where username = 'bob'`)
  const device = new RetroArch(await baseOf(test), bob.authorization)
  t.teardown(() => { device.close() })
  const { body } = await device.send('PROPFIND', 'library', undefined, DEPTH)
  t.notMatch(body.toString(), /snes/)
  t.equal((await device.send('PROPFIND', 'library/snes', undefined, DEPTH)).status, 404)
  t.equal((await device.send('GET', 'library/snes/Game (USA).sfc')).status, 404)
})

t.test('file managers list the files of the sync', async (t) => {
  const { test, deck } = await start(t)
  await addGame(test)
  await deck.put(SAVE, ONE)
  const { status, body } = await deck.send('PROPFIND', 'saves/Snes9x', undefined, DEPTH)
  t.equal(status, 207)
  t.match(body.toString(), /Game%20%28USA%29\.srm<.*getcontentlength>3</s)
  t.equal((await deck.send('PROPFIND', 'saves/None', undefined, DEPTH)).status, 404)
  t.equal((await deck.send('PROPFIND', 'states', undefined, DEPTH)).status, 207)
})
