import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import fc from 'fast-check'
import { baseKeysOf, withoutDateTag } from '../../../plugins/assets/base-rows.ts'
import { buildTestApp } from '../../support.ts'
import { type AssetItem, type Query, addDevice, createClient, md5Of, sha1Of } from './support.ts'
import { addRom } from '../roms/support.ts'

const test = await buildTestApp(t)
const headers = await test.createUser('alice')
const alice = createClient(test, headers)
let count = 0
const newRom = () => addRom(test, { fs_name: `Game ${++count}.sfc` })
const [deck, phone] = [await addDevice(test, 'alice', 'Steam Deck!'), await addDevice(test, 'alice', 'Phone')]
const send = (rom: number, query: Query, content: string, kind = 'save') =>
  alice.send('POST', `/api/${kind}s`, { rom_id: rom, ...query }, [{ name: `${kind}File`, fileName: 'Game.srm', content }])

interface Base { key: string, sha1: string, content_hash: string | null }
const bases = async (device: { id: number }, rom: number) => (await test.app.pg.query<Base>(
  'select key, sha1, content_hash from sync_bases where device_id = $1 and rom_id = $2 order by key', [device.id, rom])).rows
interface Sync { last_synced_at: Date, is_untracked: boolean }
const syncs = async (device: { id: number }, id: number) => (await test.app.pg.query<Sync>(
  'select last_synced_at, is_untracked from device_syncs where device_id = $1 and asset_id = $2', [device.id, id])).rows

t.test('base keys are the name without its date tag, and the slot', async (t) => {
  t.equal(withoutDateTag('Game [2024-01-02_03-04-05].srm'), 'Game.srm')
  t.same(baseKeysOf({ slot: null, file_name: 'Game.srm' }), ['file:Game.srm'])
  t.same(baseKeysOf({ slot: 'main', file_name: 'Game [2024-01-02_03-04-05].srm' }), ['file:Game.srm', 'slot:main'])
  fc.assert(fc.property(fc.string(), (name) => withoutDateTag(withoutDateTag(name)) === withoutDateTag(name) || name.includes('[')))
})

t.test('an upload over a newer save of the slot is a conflict, unless it says overwrite', async (t) => {
  const rom = await newRom()
  const first = await send(rom, { slot: 'a', device_id: deck.id }, 'one')
  t.match(first.json(), {
    origin_device_id: deck.device_id,
    device_syncs: [{ device_id: deck.device_id, is_current: true, is_untracked: false }]
  })
  t.match(await bases(deck, rom), [
    { key: 'file:Game.srm', sha1: sha1Of('one') }, { key: 'slot:a', sha1: sha1Of('one'), content_hash: md5Of('one') }
  ])
  const refused = await send(rom, { slot: 'a', device_id: phone.device_id }, 'two')
  t.equal(refused.statusCode, 409)
  const { id } = first.json<AssetItem>()
  t.match(refused.json(), { detail: { error: 'conflict', save_id: id, device_sync_time: null, message: String } })
  t.equal((await send(rom, { slot: 'a', device_id: phone.id, overwrite: true }, 'two')).statusCode, 200)
  t.equal((await send(rom, { slot: 'a', device_id: deck.id }, 'three')).statusCode, 409)

  const plain = (await send(rom, { device_id: deck.id }, 'one')).json<AssetItem>()
  t.equal((await send(rom, { device_id: phone.id }, 'two')).statusCode, 200, 'without a slot only who synced it can be behind')
  t.equal((await send(rom, { device_id: deck.id }, 'three')).statusCode, 409)
  const shown = await alice.get<AssetItem[]>(`/api/saves?rom_id=${rom}&device_id=${deck.device_id}`)
  const own = shown.find(({ id }) => id === plain.id)?.device_syncs
  t.match(own?.map((sync) => [sync.device_id, sync.is_current]), [[deck.device_id, false], [phone.device_id, true]])
})

t.test('a device with disabled sync is refused with the message that apps know', async (t) => {
  const rom = await newRom()
  const off = await addDevice(test, 'alice', 'Off')
  await alice.call('PUT', `/api/devices/${off.id}`, { sync_enabled: false })
  for (const [kind, Kind] of [['save', 'Save'], ['state', 'State']] as const) {
    const { id, updated_at: at } = (await send(rom, {}, 'one', kind)).json<AssetItem>()
    for (const device of [off.id, off.device_id]) {
      for (const [method, path] of [['POST', ''], ['PUT', `/${id}`], ['POST', `/${id}/versions`]] as const) {
        const reply = await alice.send(method, `/api/${kind}s${path}`, { rom_id: rom, device_id: device },
          [{ name: `${kind}File`, fileName: 'Game.srm', content: 'two' }])
        t.same([reply.statusCode, reply.json()], [400, { detail: 'Sync is disabled for this device' }], `${method} ${Kind}${path}`)
      }
    }
    t.match(await alice.get(`/api/${kind}s/${id}`), { sha1: sha1Of('one'), updated_at: at })
    t.same(await alice.versions(id, `${kind}s`), [])
  }
})

t.test('a device that knows a save may replace it, even if its owner went back to it', async (t) => {
  for (const slot of [{}, { slot: 'a' }]) {
    const rom = await newRom()
    const save = (await send(rom, { ...slot, device_id: deck.id }, 'one')).json<AssetItem>()
    await send(rom, { ...slot, device_id: phone.id, overwrite: true }, 'of the phone')
    await alice.call('POST', '/api/saves/delete', { saves: [save.id] })
    await alice.call('POST', `/api/saves/${save.id}/restore`)
    await alice.send('PUT', `/api/saves/${save.id}`, {}, [{ name: 'saveFile', fileName: 'Game.srm', content: 'two' }])
    t.equal((await send(rom, { ...slot, device_id: deck.id }, 'mine')).statusCode, 409, 'it does not know this')
    const [version] = (await alice.versions(save.id)).filter(({ sha1 }) => sha1 === sha1Of('one'))
    await alice.call('POST', `/api/saves/${save.id}/versions/${version?.id}/restore`)
    const files = [{ rom_id: rom, file_name: 'Game.srm', ...slot, content_hash: md5Of('mine'), updated_at: save.updated_at, file_size_bytes: 4 }]
    const plan = (await alice.call('POST', '/api/sync/negotiate', { device_id: deck.id, saves: files, rom_ids: [rom] }))
      .json<{ operations: { action: string }[] }>()
    t.match(plan.operations, [{ action: 'upload' }])
    t.equal((await send(rom, { ...slot, device_id: phone.id }, 'late')).statusCode, 409, 'another does not know it')
    t.equal((await send(rom, { ...slot, device_id: deck.id }, 'mine')).statusCode, 200)
  }
})

t.test('a device token identifies its device', async (t) => {
  const rom = await newRom()
  const token = await test.app.inject({
    method: 'POST', url: '/api/client-tokens', headers, payload: { name: 'x', scopes: ['assets.read', 'assets.write', 'devices.write'] }
  })
  const { raw_token: raw, id } = token.json<{ raw_token: string, id: number }>()
  await test.app.pg.query('update client_tokens set device_id = $2 where id = $1', [id, deck.id])
  const app = createClient(test, { authorization: `Bearer ${raw}` })
  const save = await app.save({ rom_id: rom }, 'Game.srm', 'one')
  t.equal(save.origin_device_id, deck.device_id)
  t.match(await bases(deck, rom), [{ key: 'file:Game.srm', sha1: sha1Of('one') }])
  t.equal((await app.call('POST', `/api/saves/${save.id}/downloaded`, {})).statusCode, 200)
  t.equal((await alice.call('POST', `/api/saves/${save.id}/downloaded`, {})).statusCode, 400)
})

t.test('a download sets no base until the device confirms it', async (t) => {
  const rom = await newRom()
  const save = await alice.save({ rom_id: rom }, 'Game.srm', 'one')
  const path = `/api/saves/${save.id}`
  await alice.content(`${path}/content?device_id=${deck.id}&optimistic=false`)
  t.same(await syncs(deck, save.id), [])
  await alice.content(`${path}/content?device_id=${deck.id}`)
  t.match(await syncs(deck, save.id), [{ last_synced_at: new Date(save.updated_at), is_untracked: false }])
  t.same(await bases(deck, rom), [])
  await test.app.pg.query("update device_syncs set last_synced_at = '2100-01-01' where asset_id = $1", [save.id])
  await alice.content(`${path}/content?device_id=${deck.id}`)
  t.same((await syncs(deck, save.id))[0]?.last_synced_at, new Date('2100-01-01'), 'older content does not take back newer')
  const done = await alice.call('POST', `${path}/downloaded`, { device_id: deck.device_id })
  t.match(done.json(), { device_syncs: [{ device_id: deck.device_id, is_current: true }] })
  t.match(await bases(deck, rom), [{ key: 'file:Game.srm', sha1: sha1Of('one'), content_hash: md5Of('one') }])

  const newer = await alice.save({ rom_id: rom }, 'Game.srm', 'two')
  const late = await alice.call('POST', `${path}/downloaded`, { device_id: phone.id, sha1: sha1Of('one').toUpperCase() })
  const behind = { device_id: phone.device_id, is_current: false }
  t.match(late.json(), { updated_at: newer.updated_at, device_syncs: [behind, {}] })
  t.match(await bases(phone, rom), [{ sha1: sha1Of('one') }])
  await alice.call('POST', `${path}/downloaded`, { device_id: phone.id, content_hash: md5Of('one') })
  t.match(await bases(phone, rom), [{ sha1: sha1Of('one') }])
  await alice.call('POST', `${path}/downloaded`, { device_id: phone.id, content_hash: 'F'.repeat(32) })
  t.match(await bases(phone, rom), [{ sha1: sha1Of('two'), content_hash: 'f'.repeat(32) }], 'a hash of its own making')
  t.equal((await alice.call('POST', `${path}/downloaded`, { device_id: phone.id, sha1: sha1Of('broken') })).statusCode, 409)

  await alice.call('POST', `${path}/untrack`, { device_id: phone.id })
  t.match(await syncs(phone, save.id), [{ is_untracked: true }])
  t.match((await alice.call('POST', `${path}/track`, { device_id: phone.id })).json(), { device_syncs: [{ is_untracked: false }, {}] })
  const other = await alice.save({ rom_id: rom, slot: 'x' }, 'Game.srm', 'x')
  const tracked = await alice.call('POST', `/api/saves/${other.id}/track`, { device_id: phone.id })
  t.match(tracked.json(), { device_syncs: [{ is_current: false }] })
  t.same(await syncs(phone, other.id), [])
})

t.test('an upload with expected_sha1 replaces only that content, and may be repeated', async (t) => {
  for (const kind of ['save', 'state']) {
    for (const slot of kind === 'save' ? [{}, { slot: 'main' }] : [{}]) {
      const rom = await newRom()
      const first = (await send(rom, slot, 'one', kind)).json<AssetItem>()
      const query = { ...slot, device_id: deck.id, expected_sha1: sha1Of('one') }
      const second = await send(rom, query, 'two', kind)
      t.match(second.json(), { sha1: sha1Of('two') })
      t.equal((await send(rom, query, 'two', kind)).json<AssetItem>().id, second.json<AssetItem>().id, 'its answer was lost')
      const late = await send(rom, { ...query, device_id: phone.id }, 'three', kind)
      t.equal(late.statusCode, 409)
      t.match(late.json(), { detail: { error: 'changed', sha1: sha1Of('two') } })
      t.same(await bases(phone, rom), [])
      t.same([...new Set((await bases(deck, rom)).map(({ sha1 }) => sha1))], [sha1Of('two')])
      t.equal((await send(rom, { ...query, overwrite: true }, 'three', kind)).statusCode, 409)
      await alice.call('POST', `/api/${kind}s/delete`, { [`${kind}s`]: [first.id, second.json<AssetItem>().id] })
      t.equal((await send(rom, query, 'four', kind)).statusCode, 409, 'nor does it bring back what was deleted')
    }
  }
})

t.test('an upload from a device replaces content that is missing from the disk', async (t) => {
  async function lose (id: number): Promise<void> {
    const { rows: [row] } = await test.app.pg.query<{ disk_path: string }>('select disk_path from assets where id = $1', [id])
    await rm(join(test.config.data_dir, 'assets', row?.disk_path ?? ''))
    t.equal((await alice.call('GET', `/api/saves/${id}/content`)).statusCode, 404)
  }
  const rom = await newRom()
  const save = (await send(rom, { device_id: deck.id }, 'one')).json<AssetItem>()
  for (const content of ['one', 'two']) {
    await lose(save.id)
    const healed = await send(rom, { device_id: deck.id, expected_sha1: 'none', content_hash: 'A'.repeat(32) }, content)
    t.match(healed.json(), { id: save.id, sha1: sha1Of(content), missing_from_fs: false })
    t.equal(await alice.content(`/api/saves/${save.id}/content`), content)
    t.match(await bases(deck, rom), [{ sha1: sha1Of(content), content_hash: 'a'.repeat(32) }])
  }
  await lose(save.id)
  t.equal((await send(rom, { device_id: phone.id, expected_sha1: sha1Of('two') }, 'three')).statusCode, 200)
  await lose(save.id)
  t.equal((await send(rom, { device_id: deck.id }, 'four')).statusCode, 200, 'nothing is there that the device would have to know')

  const older = (await send(rom, { slot: 'a', device_id: deck.id }, 'old')).json<AssetItem>()
  await test.app.pg.query("update assets set file_name = 'Game [2020-01-01_00-00-00].srm' where id = $1", [older.id])
  const newer = (await send(rom, { slot: 'a', device_id: deck.id }, 'new')).json<AssetItem>()
  await lose(newer.id)
  t.equal((await send(rom, { slot: 'a', device_id: phone.id, expected_sha1: 'none' }, 'mine')).statusCode, 409, 'the older one is there')
  t.equal((await send(rom, { slot: 'a', device_id: phone.id, expected_sha1: sha1Of('old') }, 'mine')).statusCode, 200)
})

t.test('an upload with expected_sha1 stores old content of a slot as a new save', async (t) => {
  const rom = await newRom()
  const first = (await send(rom, { slot: 'a', device_id: deck.id }, 'one')).json<AssetItem>()
  await test.app.pg.query("update assets set file_name = 'Game [2020-01-01_00-00-00].srm' where id = $1", [first.id])
  await send(rom, { slot: 'a', device_id: deck.id }, 'two')
  const back = (await send(rom, { slot: 'a', device_id: deck.id, expected_sha1: sha1Of('two') }, 'one')).json<AssetItem>()
  t.not(back.id, first.id)
  t.equal((await alice.get<AssetItem[]>(`/api/saves?rom_id=${rom}&slot=a`))[0]?.sha1, sha1Of('one'))
})

t.test('a device that goes back to former content of a slot makes that the newest save', async (t) => {
  const rom = await newRom()
  const query = { rom_id: rom, slot: 'a' }
  const first = (await send(rom, { slot: 'a', device_id: deck.id }, 'one')).json<AssetItem>()
  await test.app.pg.query("update assets set file_name = 'Game [2020-01-01_00-00-00].srm' where id = $1", [first.id])
  const second = (await send(rom, { slot: 'a', device_id: deck.id }, 'two')).json<AssetItem>()
  t.equal((await alice.save(query, 'Game.srm', 'one')).id, first.id, 'an upload without a device changes nothing')
  const negotiate = async (device: { id: number }, content: string) => (await alice.call('POST', '/api/sync/negotiate', {
    device_id: device.id,
    rom_ids: [rom],
    saves: [{ ...query, file_name: 'Game.srm', content_hash: md5Of(content), updated_at: new Date().toISOString(), file_size_bytes: 3 }]
  })).json<{ operations: { action: string, save_id: number }[] }>().operations
  await negotiate(phone, 'two')
  t.match(await negotiate(deck, 'one'), [{ action: 'upload', save_id: second.id }])
  const back = (await send(rom, { slot: 'a', device_id: deck.id }, 'one')).json<AssetItem>()
  t.match(await negotiate(deck, 'one'), [{ action: 'no_op', save_id: back.id }])
  t.match(await negotiate(phone, 'two'), [{ action: 'download', save_id: back.id }])
  t.equal((await send(rom, { slot: 'a', device_id: deck.id }, 'one')).json<AssetItem>().id, back.id, 'a repeated upload is stored once')
})

t.test('ten conflict copies are stored beside a file, each content once', async (t) => {
  const rom = await newRom()
  const original = (await send(rom, { slot: 'a', device_id: deck.id }, 'server')).json<AssetItem>()
  const query = { slot: 'a', device_id: deck.id, conflict_of: original.id }
  const copy = (await send(rom, query, 'device')).json<AssetItem>()
  t.match(copy, { conflict_of: original.id, slot: null, sha1: sha1Of('device') })
  t.match(copy.file_name, /^Game\.conflict-\d{8}T\d{6}Z-Steam-Deck-\.srm$/)
  t.equal((await send(rom, query, 'device')).json<AssetItem>().id, copy.id)
  t.equal((await send(rom, query, 'server')).json<AssetItem>().id, original.id)
  t.equal((await send(rom, { device_id: deck.id, conflict_of: copy.id }, 'again')).statusCode, 400)
  t.equal((await send(rom, { device_id: deck.id, conflict_of: 9999 }, 'again')).statusCode, 404)
  t.equal((await send(await newRom(), { device_id: deck.id, conflict_of: original.id }, 'x')).statusCode, 404)
  t.match(await bases(deck, rom), [{ key: 'file:Game.srm', sha1: sha1Of('server') }, { key: 'slot:a', sha1: sha1Of('server') }])
  t.same(await syncs(deck, copy.id), [], 'the copy is offered to every device, also to this one')
  for (let i = 0; i < 12; i++) {
    const { id } = (await send(rom, query, `device ${i}`)).json<AssetItem>()
    await test.app.pg.query('update assets set file_name = $2 where id = $1', [id, `Game.conflict-${i}.srm`])
  }
  const saves = await alice.get<AssetItem[]>(`/api/saves?rom_id=${rom}`)
  t.equal(saves.filter(({ conflict_of: of }) => of === original.id).length, 10)
  const deleted = (await alice.get<AssetItem[]>('/api/saves/deleted')).filter(({ rom_id: of }) => of === rom)
  t.ok(deleted.some(({ id }) => id === copy.id))
})

t.test('transfers count in the sync session they name; unknown sessions are ignored', async (t) => {
  const rom = await newRom()
  const { rows: [session] } = await test.app.pg.query<{ id: number, session_id: string }>(`insert into sync_sessions (user_id, device_id, operations_planned)
    select user_id, id, 3 from devices where id = $1 returning id, session_id`, [deck.id])
  if (session === undefined) throw new Error('A session was made')
  const save = await alice.save({ rom_id: rom, session_id: session.id }, 'Game.srm', 'one')
  await alice.content(`/api/saves/${save.id}/content?session_id=${session.session_id}`)
  await alice.content(`/api/saves/${save.id}/content?session_id=nonsense`)
  await alice.content(`/api/saves/${save.id}/content?session_id=99999`)
  const { rows: [{ done } = { done: 0 }] } = await test.app.pg.query<{ done: number }>(
    'select operations_completed as done from sync_sessions where id = $1', [session.id])
  t.equal(done, 2)
})
