import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { buildTestApp } from '../../support.ts'
import { addRom, countQueries } from '../roms/support.ts'
import { until } from '../../until.ts'
import { type AssetSeed, createSyncWorld, listFiles, md5, sha1, timeOf } from './support.ts'
import { createCaller } from '../tokens/support.ts'

const test = await buildTestApp(t)
const { app } = test
const world = createSyncWorld(test)
const NEGOTIATE = '/api/sync/negotiate'
const SESSIONS = '/api/sync/sessions'
let count = 0
type User = Awaited<ReturnType<typeof world.addUser>>

/** Adds a user with a device and a ROM. */
async function begin (device: object = {}, known?: User) {
  const name = `player${++count}`
  const user = known ?? await world.addUser(name)
  const rom = await addRom(test, { fs_name: `${name}.sfc` })
  const handheld = await world.addDevice(user.id, device)
  const add = async (seed: Omit<AssetSeed, 'rom'>) => await world.addAsset(user.id, { rom, ...seed })
  const negotiate = async (files: Record<string, string> = {}, extra: object = {}) => {
    const roms = listFiles({ [rom]: files })
    const { status, body } = await user.post(NEGOTIATE, { device_id: handheld.id, roms, ...extra })
    return { status, session: body.session_id as string, operations: body.operations, detail: body.detail }
  }
  const complete = async (session: number | string, body: object = {}) =>
    await user.post(`${SESSIONS}/${session}/complete`, body)
  return { user, rom, device: handheld, add, negotiate, complete }
}

/** Returns a listed file in the dialect by slot. */
const save = (rom: number, slot: string | null, content: string | null, extra: object = {}) => ({
  rom_id: rom, file_name: 'Game.srm', slot, updated_at: timeOf(0), file_size_bytes: 1,
  content_hash: content === null ? null : md5(content), ...extra
})

/** The last parameter of upload paths: the time that the device sent. */
const MTIME = `mtime=${encodeURIComponent(new Date(timeOf(0)).toISOString())}`

t.test('a file that only the device has is uploaded to the given path', async (t) => {
  const { rom, device, negotiate } = await begin()
  const { status, session, operations } = await negotiate({ 'Game.srm': 'one', 'Game.state1': 'two' })
  t.equal(status, 200)
  t.match(session, /^[0-9a-f-]{36}$/)
  const of = `rom_id=${rom}&device_id=${device.id}&session_id=${session}&expected_sha1=none&${MTIME}`
  t.strictSame(operations, [
    { type: 'upload', rom_id: rom, file: 'Game.srm', destination: `/api/saves?${of}` },
    { type: 'upload', rom_id: rom, file: 'Game.state1', destination: `/api/states?${of}` }
  ])
})

t.test('equal files become the base, and a file removed afterwards is not offered again', async (t) => {
  const { rom, device, add, negotiate } = await begin()
  const id = await add({ name: 'Game.srm', content: 'one', at: 5 })
  t.strictSame((await negotiate({ 'Game.srm': 'one' })).operations, [{ type: 'noop', rom_id: rom, file: 'Game.srm' }])
  t.same(await world.listBases(device.id), { 'file:Game.srm': sha1('one') })
  const { rows } = await app.pg.query('select asset_id, last_synced_at from device_syncs where device_id = $1', [device.id])
  t.same(rows, [{ asset_id: id, last_synced_at: new Date(timeOf(5)) }])
  t.same((await negotiate({})).operations, [])
})

t.test('a save that is offered to a device has the plus signs of the name of its ROM', async (t) => {
  const { user, device } = await begin({ paths: { saves: '/saves' } })
  const offer = async (romName: string, name: string) => {
    const rom = await addRom(test, { fs_name: romName })
    await world.addAsset(user.id, { rom, name, content: name })
    const roms = listFiles({ [rom]: {} })
    const { body } = await user.post(NEGOTIATE, { device_id: device.id, roms })
    return body.operations.find((operation: { rom_id: number }) => operation.rom_id === rom)
  }
  t.match(await offer('Mickey + Donald (USA).sfc', 'Mickey  Donald (USA) [2026-01-01_00-00-00].srm'),
    { type: 'download', file: 'Mickey + Donald (USA).srm', dest_path: '/saves/Mickey + Donald (USA).srm' })
  t.match(await offer('A+.sfc', 'A.state1'), { file: 'A+.state1' })
  t.match(await offer('B+.sfc', 'B2.srm'), { file: 'B2.srm' })
  t.match(await offer('C: D + E.sfc', 'C- D  E.srm'), { file: 'C- D  E.srm' })
})

t.test('a file that only the server has is downloaded to the path of its kind', async (t) => {
  const { rom, device, add, negotiate } = await begin({ paths: { saves: '/storage/saves/', states: 'D:\\states' } })
  const saved = await add({ name: 'Game [2026-01-01_00-00-00].srm', content: 'one', slot: 'auto' })
  const stated = await add({ name: 'Game.state', content: 'two', kind: 'state' })
  const { session, operations } = await negotiate()
  const of = `device_id=${device.id}&session_id=${session}`
  t.strictSame(operations, [
    { type: 'download', rom_id: rom, file: 'Game.srm', source: `/api/saves/${saved}/content?${of}`, dest_path: '/storage/saves/Game.srm' },
    { type: 'download', rom_id: rom, file: 'Game.state', source: `/api/states/${stated}/content?${of}`, dest_path: 'D:\\states/Game.state' }
  ])
  const bare = await begin()
  await bare.add({ name: 'Game.srm', content: 'one' })
  t.match((await bare.negotiate()).operations, [{ dest_path: 'Game.srm' }])
})

t.test('the side that changed since the base wins; two changes are a conflict', async (t) => {
  const { rom, device, add, negotiate } = await begin()
  const id = await add({ name: 'Game.srm', content: 'one', emulator: 'snes9x' })
  await negotiate({ 'Game.srm': 'one' })
  const upload = await negotiate({ 'Game.srm': 'two' })
  const of = `rom_id=${rom}&device_id=${device.id}&session_id=`
  t.strictSame(upload.operations, [{
    type: 'upload', rom_id: rom, file: 'Game.srm',
    destination: `/api/saves?${of}${upload.session}&expected_sha1=${sha1('one')}&emulator=snes9x&overwrite=true&${MTIME}`
  }])
  await world.change(id, 'three', 5)
  t.match((await negotiate({ 'Game.srm': 'one' })).operations, [{ type: 'download', dest_path: 'Game.srm' }])
  const both = await negotiate({ 'Game.srm': 'two' })
  t.strictSame(both.operations, [{
    type: 'conflict', rom_id: rom, file: 'Game.srm', resolution: 'keep_both',
    destination: `/api/saves?${of}${both.session}&conflict_of=${id}&emulator=snes9x&${MTIME}`,
    source: `/api/saves/${id}/content?device_id=${device.id}&session_id=${both.session}`, dest_path: 'Game.srm'
  }])
})

t.test('a conflict is resolved as the device is configured', async (t) => {
  for (const [resolution, expected, destination] of [
    ['server_wins', 'server_wins', /^\/api\/saves\/\d+\/versions\?device_id=\d+&session_id=/],
    ['device_wins', 'device_wins', /^\/api\/saves\?rom_id=.*&expected_sha1=[0-9a-f]{40}&slot=a%26b&overwrite=true&mtime=/],
    ['nobody_wins', 'keep_both', /&conflict_of=\d+&mtime=/]
  ] as const) {
    const { add, negotiate } = await begin({ sync_config: { conflict_resolution: resolution } })
    await add({ name: 'Game [2026-01-01_00-00-00].srm', content: 'one', slot: 'a&b' })
    t.match((await negotiate({ 'Game.srm': 'two' })).operations, [{ type: 'conflict', resolution: expected, destination, source: String }])
  }
})

t.test('a device with any former content of the server is updated without a conflict', async (t) => {
  const { device, add, negotiate } = await begin()
  const id = await add({ name: 'Game.srm', content: 'one' })
  await world.change(id, 'two', 1)
  t.match((await negotiate({ 'Game.srm': 'one' })).operations, [{ type: 'download' }])
  t.same(await world.listBases(device.id), { 'file:Game.srm': sha1('one') })
  await add({ name: 'Slot [2026-01-01_00-00-00].srm', content: 'old', slot: 'x' })
  await add({ name: 'Slot [2026-01-02_00-00-00].srm', content: 'new', slot: 'x', at: 9 })
  t.match((await negotiate({ 'Game.srm': 'two', 'Slot.srm': 'old' })).operations, [{ type: 'noop' }, { type: 'download' }])
  await add({ name: 'Game.conflict-20260101T000000Z-handheld.srm', content: 'mine', conflict_of: id })
  await world.change(id, 'three', 2)
  t.match((await negotiate({ 'Game.srm': 'mine', 'Slot.srm': 'new' })).operations, [{ type: 'download' }, { type: 'noop' }],
    'what came out of a conflict is kept already')
})

t.test('conflict copies are not offered and cause no conflicts', async (t) => {
  const { add, negotiate } = await begin()
  const id = await add({ name: 'Game.srm', content: 'one' })
  const name = 'Game.conflict-20260101T000000Z-handheld.srm'
  await add({ name, content: 'mine', conflict_of: id })
  t.match((await negotiate({ 'Game.srm': 'one' })).operations, [{ type: 'noop', file: 'Game.srm' }])
  t.match((await negotiate({ 'Game.srm': 'one', [name]: 'other' })).operations, [{ type: 'noop' }, { type: 'upload', file: name }])
})

t.test('a file that the owner deleted is uploaded again only if the device changed it', async (t) => {
  const { add, negotiate } = await begin()
  const id = await add({ name: 'Game.srm', content: 'one' })
  await world.change(id, 'two', 1)
  await negotiate({ 'Game.srm': 'two' })
  await app.pg.query("update assets set deleted_at = now(), deleted_by = 'owner' where id = $1", [id])
  for (const [content, type] of [['two', 'noop'], ['one', 'noop'], ['three', 'upload']] as const) {
    t.match((await negotiate({ 'Game.srm': content })).operations, [{ type }], content)
  }
  await app.pg.query("update assets set deleted_by = 'cleanup' where id = $1", [id])
  t.match((await negotiate({ 'Game.srm': 'two' })).operations, [{ type: 'upload' }], 'the limit of a history deletes nothing on devices')
})

t.test('former and deleted content of another user decides nothing', async (t) => {
  const { rom, add, negotiate } = await begin()
  const { id: other } = await world.addUser(`player${++count}`)
  await world.addAsset(other, { rom, name: 'Game.srm', content: 'one', deleted_by: 'owner' })
  t.match((await negotiate({ 'Game.srm': 'one' })).operations, [{ type: 'upload' }])
  await world.change(await world.addAsset(other, { rom, name: 'Game.srm', content: 'two' }), 'three', 1)
  await add({ name: 'Game.srm', content: 'own' })
  t.match((await negotiate({ 'Game.srm': 'two' })).operations, [{ type: 'conflict' }])
})

t.test('a deleted file stays deleted after its retention; a missing one comes back', async (t) => {
  const { user, rom, device, add, negotiate } = await begin()
  const id = await add({ name: 'Game- 2.srm', content: 'one' })
  const slot = await add({ name: 'Slot [2026-01-01_00-00-00].srm', content: 'one', slot: 'a' })
  const ask = async (content: string) => (await user.post(NEGOTIATE, { device_id: device.id, saves: [save(rom, 'a', content)] })).body
  await negotiate({ 'Game: 2.srm': 'one' })
  await ask('one')
  await app.pg.query('update assets set missing_from_fs = true where id = any($1)', [[id, slot]])
  t.match((await negotiate({ 'Game: 2.srm': 'one' })).operations, [{ type: 'upload', destination: /expected_sha1=none/ }])
  t.match(await ask('one'), { total_upload: 1, total_no_op: 0 })
  await app.pg.query('delete from assets where id = any($1)', [[id, slot]])
  t.match((await negotiate({ 'Game: 2.srm': 'one' })).operations, [{ type: 'noop' }])
  t.match(await ask('one'), { total_upload: 0, total_no_op: 1 })
  t.match((await negotiate({ 'Game: 2.srm': 'two' })).operations, [{ type: 'upload' }])
  t.match(await ask('two'), { total_upload: 1 })
})

t.test("a device keeps a file that the server's disk lost, even if an older one is left", async (t) => {
  const { add, device, negotiate } = await begin()
  await add({ name: 'Game [2026-01-01_00-00-00].srm', content: 'old', slot: 'a' })
  const newest = await add({ name: 'Game [2026-01-02_00-00-00].srm', content: 'new', slot: 'a', at: 60 })
  await negotiate({ 'Game.srm': 'new' })
  t.same(await world.listBases(device.id), { 'file:Game.srm': sha1('new'), 'slot:a': sha1('new') })
  await app.pg.query('update assets set missing_from_fs = true where id = $1', [newest])
  t.match((await negotiate({ 'Game.srm': 'new' })).operations, [{ type: 'conflict', resolution: 'keep_both' }])
})

t.test('file names are compared in their stored form', async (t) => {
  const { add, negotiate } = await begin()
  await add({ name: 'Game- Part 2 [2026-01-01_00-00-00].srm', content: 'one', slot: 'x' })
  t.match((await negotiate({ 'Game: Part 2?.srm': 'one' })).operations, [{ type: 'noop' }])
  t.match((await negotiate({ '..': 'one' })).operations, [{ type: 'noop', file: '..' }])
})

t.test('a device that only receives sends nothing, and one that only sends gets nothing', async (t) => {
  for (const [mode, expected] of [
    ['pull_only', { 'Mine.srm': 'noop', 'Both.srm': 'conflict', 'Other.srm': 'download' }],
    ['push_only', { 'Mine.srm': 'upload', 'Both.srm': 'upload' }]
  ] as const) {
    const { add, negotiate } = await begin({ sync_mode: mode })
    await add({ name: 'Other.srm', content: 'one' })
    await add({ name: 'Both.srm', content: 'one' })
    const { operations } = await negotiate({ 'Mine.srm': 'one', 'Both.srm': 'two' })
    const types = operations.map(({ file, type }: { file: string, type: string }) => [file, type])
    t.same(Object.fromEntries(types), expected, mode)
  }
})

t.test('hidden and missing ROMs are neither offered nor requested', async (t) => {
  const { user, rom, add, negotiate } = await begin()
  await add({ name: 'Game.srm', content: 'one' })
  await app.pg.query("insert into hidden_entities (entity, entity_id, user_id) values ('roms', $1, $2)", [rom, user.id])
  t.match((await negotiate({ 'Game.srm': 'two' })).operations, [{ type: 'noop' }])
  t.same((await negotiate()).operations, [])
  const unknown = await negotiate({}, { roms: listFiles({ 2_000_000_000: { 'Game.srm': 'one' } }) })
  t.strictSame(unknown.operations, [{ type: 'noop', rom_id: 2_000_000_000, file: 'Game.srm' }])
  const bySlot = await negotiate({}, { roms: undefined, saves: [save(rom, 'x', 'one')] })
  t.match(bySlot.operations, [{ action: 'no_op', reason: /no such ROM/ }])
})

t.test('unnamed ROMs matter only for files with a base', async (t) => {
  const { user, add, negotiate } = await begin()
  const known = await add({ name: 'Known.srm', content: 'one' })
  await add({ name: 'New.srm', content: 'one' })
  await negotiate({ 'Known.srm': 'one' })
  await world.change(known, 'two', 1)
  t.match((await negotiate({}, { roms: [] })).operations, [{ type: 'download', file: 'Known.srm' }])
  const other = await world.addDevice(user.id)
  t.same((await negotiate({}, { roms: [], device_id: other.id })).operations, [])
})

t.test('by slot: the newest save of each slot is paired, and the response is by slot', async (t) => {
  const { user, rom, device, add } = await begin()
  await add({ name: 'Game [2026-01-01_00-00-00].srm', content: 'old', slot: 'auto' })
  const newest = await add({ name: 'Game [2026-01-02_00-00-00].srm', content: 'new', slot: 'auto', at: 60, emulator: 'snes9x' })
  await add({ name: 'Archive.srm', content: 'kept' })
  const offered = await add({ name: 'Quick [2026-01-02_00-00-00].srm', content: 'quick', slot: 'quick' })
  const { body } = await user.post(NEGOTIATE, {
    device_id: device.uuid, saves: [save(rom, 'auto', 'old'), save(rom, null, 'kept'), save(rom, 'other', 'mine', { emulator: 'bsnes' })]
  })
  t.type(body.session_id, 'number')
  t.match(body, { total_upload: 2, total_download: 2, total_conflict: 0, total_no_op: 0, total_delete: undefined })
  t.strictSame(body.operations[0], {
    action: 'download', rom_id: rom, save_id: newest, file_name: 'Game [2026-01-02_00-00-00].srm', slot: 'auto', emulator: 'snes9x',
    reason: 'The device has an older version', server_updated_at: '2026-01-01T00:01:00+00:00', server_content_hash: md5('new')
  })
  t.match(body.operations.slice(1), [
    { action: 'upload', save_id: null, slot: null, server_updated_at: null, server_content_hash: null },
    { action: 'upload', save_id: null, file_name: 'Game.srm', slot: 'other', emulator: 'bsnes' },
    { action: 'download', save_id: offered, slot: 'quick' }
  ])
})

t.test('by slot: a save without a hash is decided by time', async (t) => {
  const { user, rom, device, add } = await begin()
  const id = await add({ name: 'Game [2026-01-01_00-00-00].srm', content: 'one', slot: 'auto', at: 60 })
  const act = async (at: number | string) => (await user.post(NEGOTIATE, {
    device_id: device.id, saves: [save(rom, 'auto', null, { updated_at: typeof at === 'string' ? at : timeOf(at) })]
  })).body.operations[0].action as string
  t.equal(await act(61), 'upload')
  t.equal(await act(59), 'download')
  t.equal(await act('2026-01-01T00:01:00'), 'conflict', 'a time without an offset is UTC')
  t.equal(await act('2026-01-01 01:01:00.000000+01:00'), 'conflict')
  await app.pg.query('insert into device_syncs (device_id, asset_id, last_synced_at) values ($1, $2, $3)', [device.id, id, timeOf(60)])
  t.equal(await act(59), 'no_op')
  t.equal(await act(61), 'upload')
  await world.change(id, 'two', 90)
  t.equal(await act(61), 'conflict')
  await app.pg.query('update device_syncs set is_untracked = true where asset_id = $1', [id])
  t.equal(await act(61), 'no_op')
})

t.test('a slot with the name of a file has its own base', async (t) => {
  const { user, rom, device, add, negotiate } = await begin()
  const bySlot = async (content: string) =>
    (await user.post(NEGOTIATE, { device_id: device.id, saves: [save(rom, 'Game.srm', content)] })).body.operations
  await add({ name: 'Game.srm', content: 'one' })
  await add({ name: 'Other [2026-01-01_00-00-00].srm', content: 'two', slot: 'Game.srm' })
  await negotiate({ 'Game.srm': 'one' })
  await bySlot('two')
  t.same(await world.listBases(device.id), {
    'file:Game.srm': sha1('one'), 'slot:Game.srm': sha1('two'), 'file:Other.srm': sha1('two')
  })
  t.match((await negotiate({ 'Game.srm': 'three', 'Other.srm': 'two' })).operations, [{ type: 'upload' }, { type: 'noop' }])
  t.match(await bySlot('three'), [{ action: 'upload', reason: 'Changed on the device' }])
})

t.test('by slot: newer fields limit the offers, and their clients get deletes', async (t) => {
  const { user, rom, device, add } = await begin()
  const elsewhere = await addRom(test, { fs_name: `${count}-elsewhere.sfc` })
  const id = await add({ name: 'Game [2026-01-01_00-00-00].srm', content: 'one', slot: 'auto', emulator: 'snes9x' })
  await world.addAsset(user.id, { rom: elsewhere, name: 'Else [2026-01-01_00-00-00].srm', content: 'two', slot: 'auto' })
  const ask = async (extra: object) => (await user.post(NEGOTIATE, { device_id: device.id, saves: [], ...extra })).body
  t.match(await ask({}), { total_download: 2, total_delete: undefined })
  t.match(await ask({ rom_ids: [rom] }), { total_download: 1, total_delete: 0, operations: [{ rom_id: rom }] })
  t.match(await ask({ emulators: ['snes9x'] }), { total_download: 1, operations: [{ save_id: id }] })
  await ask({ saves: [save(rom, 'auto', 'one')] })
  t.match(await ask({ rom_ids: [rom] }), { total_download: 0 })
  t.match(await ask({ rom_ids: [rom], restore_unlisted: true }), { total_download: 1 })
  await app.pg.query("update assets set deleted_at = now(), deleted_by = 'owner' where id = $1", [id])
  const gone = { saves: [save(rom, 'auto', 'one')] }
  t.match(await ask(gone), { total_no_op: 1, operations: [{ action: 'no_op', save_id: null, slot: 'auto' }, { action: 'download' }] })
  t.match(await ask({ ...gone, restore_unlisted: false }), {
    total_delete: 1, operations: [{ action: 'delete', save_id: null, slot: 'auto' }, { action: 'download' }]
  })
})

t.test('an invalid negotiation is refused with advice', async (t) => {
  const { user, rom, device } = await begin()
  const stranger = await begin()
  const off = await world.addDevice(user.id, { sync_enabled: false })
  const file = (extra: object) => ({ roms: [{ rom_id: rom, saves: [{ file: 'a', mtime: timeOf(0), ...extra }] }] })
  for (const [body, status, detail] of [
    [{ roms: [] }, 400, /names no device/],
    [{ device_id: stranger.device.id, roms: [] }, 404, /Device with ID/],
    [{ device_id: stranger.device.uuid, saves: [] }, 404, /Device with ID/],
    [{ device_id: 'x', roms: [] }, 404, /Device with ID 'x'/],
    [{ device_id: off.id, roms: [] }, 400, /^Sync is disabled for this device$/],
    [{ device_id: device.id }, 422, [{ loc: ['body'], msg: /'roms'.*'saves'/ }]],
    [{ device_id: device.id, roms: null }, 422, [{ loc: ['body', 'roms'] }]],
    [{ device_id: device.id, ...file({ sha1: 'f'.repeat(39) }) }, 422, [{ loc: ['body', 'roms', 0, 'saves', 0, 'sha1'] }]],
    [{ device_id: device.id, ...file({ mtime: 'yesterday' }) }, 422, [{ loc: ['body', 'roms', 0, 'saves', 0, 'mtime'] }]],
    [{ device_id: device.id, ...file({ file: 'a\0b' }) }, 422, [{ loc: ['body', 'roms', 0, 'saves', 0, 'file'] }]],
    [{ device_id: device.id, saves: [save(rom, 'x', 'y', { updated_at: undefined })] }, 422,
      [{ loc: ['body', 'saves', 0, 'updated_at'] }]],
    [{ device_id: device.id, saves: [], rom_ids: Array(501).fill(rom) }, 422, [{ loc: ['body', 'rom_ids'] }]]
  ] as const) {
    // A value that may be null violates each of its schemas; the first violation is enough.
    const expected = detail instanceof RegExp ? detail : { ...detail }
    const reply = await user.post(NEGOTIATE, body)
    t.match(reply, { status, body: { detail: expected } }, JSON.stringify(body).slice(0, 100))
  }
  const both = await user.post(NEGOTIATE, { device_id: device.id, roms: [], saves: [] })
  t.match(both.body, { session_id: /^[0-9a-f-]{36}$/, total_upload: undefined })
})

t.test('a body of many megabytes is read, and an invalid one gets its first error only', async (t) => {
  const { user, device } = await begin()
  const roms = Array.from({ length: 60_000 }, (_, i) => ({ rom_id: 1_000_000 + i, saves: [] }))
  t.match(await user.post(NEGOTIATE, { device_id: device.id, roms }), { status: 200, body: { operations: [] } })
  const wrong = await user.post(NEGOTIATE, { device_id: device.id, saves: Array(600_000).fill(1) })
  t.match(wrong, { status: 422, body: { detail: [{ loc: ['body', 'saves', 0] }] } })
  t.equal(wrong.body.detail.length, 1)
})

t.test('a bound token needs no device id and only the scopes of the specification', async (t) => {
  const { user, rom, device } = await begin()
  const token = async (scopes: string[]) => createCaller(app, await world.addApp(user.id, device.id, scopes))
  const app1 = await token(['assets.read', 'assets.write', 'devices.write'])
  const { status, body } = await app1.post(NEGOTIATE, { roms: listFiles({ [rom]: { 'Game.srm': 'one' } }) })
  t.equal(status, 200)
  t.match(body.operations, [{ destination: new RegExp(`device_id=${device.id}&`) }])
  t.equal((await app1.get(`${SESSIONS}/${body.session_id}`)).status, 200)
  t.match(await app1.post(`${SESSIONS}/${body.session_id}/complete`),
    { status: 200, body: { session: { status: 'COMPLETED', operations_completed: 0 } } }, 'without a body')
  const reader = await token(['assets.read', 'devices.read'])
  const opened = await reader.post(NEGOTIATE, { saves: [] })
  t.equal(opened.status, 200)
  t.equal((await reader.post(`${SESSIONS}/${opened.body.session_id}/complete`, {})).status, 403)
  t.equal((await (await token(['devices.read', 'devices.write'])).post(NEGOTIATE, { roms: [] })).status, 403)
})

t.test('completing a session confirms its downloads only if all operations were done', async (t) => {
  for (const [counts, isConfirmed] of [
    [{ operations_completed: 1, operations_failed: 0 }, true],
    [{ operations_completed: 0, operations_failed: 1 }, false],
    [{}, false]
  ] as const) {
    const { device, add, negotiate, complete } = await begin()
    await add({ name: 'Game.srm', content: 'one' })
    const { session } = await negotiate()
    t.equal((await complete(session, counts)).status, 200)
    t.same(await world.listBases(device.id), isConfirmed ? { 'file:Game.srm': sha1('one') } : {})
    t.equal((await negotiate()).operations.length, isConfirmed ? 0 : 1)
  }
})

t.test('a download of content that is no longer current does not become the base', async (t) => {
  const { device, add, negotiate, complete } = await begin()
  const id = await add({ name: 'Game.srm', content: 'one' })
  const { session } = await negotiate()
  await world.change(id, 'two', 1)
  t.equal((await complete(session, { operations_completed: 1 })).status, 200)
  t.same(await world.listBases(device.id), {})
  t.match((await negotiate({ 'Game.srm': 'one' })).operations, [{ type: 'download' }])
})

t.test('either id completes a session once; a repeated request gets the same answer', async (t) => {
  const { user, rom, device, negotiate, complete } = await begin()
  const { session } = await negotiate({ 'a.srm': 'one' })
  const { body: open } = await user.get(`${SESSIONS}/${session}`)
  t.match(open, { session_id: session, device_id: device.uuid, user_id: user.id, status: 'IN_PROGRESS', operations_planned: 1, completed_at: null })
  const body = {
    operations_completed: 3, operations_failed: 1, play_sessions: [
      { rom_id: rom, start: '2026-01-01T10:00:00Z', end: '2026-01-01T11:00:00Z', duration_seconds: 3_600 },
      { rom_id: rom, start_time: '2026-01-01T12:00:00Z', end_time: '2026-01-01T12:30:00Z', duration_ms: 1_800_000 }
    ]
  }
  const first = await complete(open.id, body)
  t.match(first, {
    status: 200,
    body: {
      session: { id: open.id, session_id: session, status: 'COMPLETED', operations_completed: 3, operations_failed: 1, operations_planned: 1 },
      play_session_ingest: { created_count: 2, skipped_count: 0 }
    }
  })
  const { operations_completed: completed, ...rest } = body
  const again = await complete(session, { ...rest, operations_completed: completed })
  t.equal(again.status, 200)
  t.strictSame(again.body, first.body)
  t.strictSame((await user.get(`${SESSIONS}/${session}`)).body, first.body.session)
  t.match(await complete(session, { operations_completed: 3 }), { status: 400, body: { detail: /COMPLETED already/ } })
  const { rows } = await app.pg.query('select device_id, sync_session_id, duration_ms from play_sessions where user_id = $1 order by id', [user.id])
  t.match(rows, Array(2).fill({ device_id: device.id, sync_session_id: open.id }))
})

t.test('an invalid play session rolls the whole completion back', async (t) => {
  const { user, rom, device, add, negotiate, complete } = await begin()
  await add({ name: 'Game.srm', content: 'one' })
  const { session } = await negotiate()
  const entry = { rom_id: rom, start: '2026-01-01T11:00:00Z', end: '2026-01-01T10:00:00Z', duration_seconds: 1 }
  t.equal((await complete(session, { operations_completed: 1, play_sessions: [entry] })).status, 422)
  t.match((await user.get(`${SESSIONS}/${session}`)).body, { status: 'IN_PROGRESS', operations_completed: 0 })
  t.same(await world.listBases(device.id), {})
})

t.test('concurrent completions: one completes, and all get the same answer', async (t) => {
  const { rom, user, negotiate, complete } = await begin()
  const { session } = await negotiate()
  const entry = { rom_id: rom, start: '2026-01-01T10:00:00Z', end: '2026-01-01T11:00:00Z', duration_seconds: 60 }
  const answers = await Promise.all(Array.from({ length: 8 }, () => complete(session, { play_sessions: [entry] })))
  t.same([...new Set(answers.map(({ status }) => status))], [200])
  t.equal(new Set(answers.map(({ body }) => JSON.stringify(body.play_session_ingest.results))).size, 1)
  t.equal((await app.pg.query('select 1 from play_sessions where user_id = $1', [user.id])).rowCount, 1)
})

t.test('sessions are listed newest first, by device and page, to their user only', async (t) => {
  const { user, device, negotiate } = await begin()
  const other = await world.addDevice(user.id)
  const sessions: string[] = []
  for (const { id } of [device, other, device]) sessions.push((await negotiate({}, { device_id: id })).session)
  const list = async (query = '') =>
    (await user.get(`${SESSIONS}${query}`)).body.map((one: { session_id: string }) => one.session_id)
  t.same(await list(), sessions.toReversed())
  t.same(await list(`?device_id=${device.uuid}`), [sessions[2], sessions[0]])
  t.same(await list(`?device_id=${other.id}`), [sessions[1]])
  t.same(await list('?limit=1&offset=1'), [sessions[1]])
  t.equal((await user.get(`${SESSIONS}?limit=0`)).status, 422)
  const stranger = await begin()
  const { body: own } = await user.get(`${SESSIONS}/${sessions[0]}`)
  t.same((await stranger.user.get(SESSIONS)).body, [])
  for (const id of [device.id, device.uuid, 'x', '99999999999']) {
    t.match(await stranger.user.get(`${SESSIONS}?device_id=${id}`), { status: 200, body: [] }, String(id))
  }
  for (const id of [own.id, own.session_id, 'x', '99999999999']) {
    t.match(await stranger.user.get(`${SESSIONS}/${id}`), { status: 404, body: { detail: /Sync session/ } })
    t.equal((await stranger.complete(id)).status, 404)
  }
})

t.test('a transfer counts only in an open session of the user', async (t) => {
  const { user, negotiate, complete } = await begin()
  const stranger = await begin()
  const { session } = await negotiate({ 'a.srm': 'one' })
  const transfer = async (userId: number, id: string | number) =>
    await app.sync.countTransfer(app.db, userId, id, { file_name: 'a.srm' })
  const { body: { id } } = await user.get(`${SESSIONS}/${session}`)
  await transfer(user.id, session)
  await transfer(user.id, id)
  for (const wrong of ['x', 999_999, crypto.randomUUID()]) await transfer(user.id, wrong)
  await transfer(stranger.user.id, session)
  t.match((await user.get(`${SESSIONS}/${session}`)).body, { operations_completed: 2 })
  await complete(session, { operations_completed: 1 })
  await transfer(user.id, session)
  t.match((await user.get(`${SESSIONS}/${session}`)).body, { operations_completed: 1 })
})

t.test('a session expires after a day and can still be completed', async (t) => {
  const { user, negotiate, complete } = await begin()
  const { session } = await negotiate()
  const { session: younger } = await negotiate()
  await app.pg.query("update sync_sessions set initiated_at = now() - interval '25 hours' where session_id = $1", [session])
  await app.sync.expire()
  t.match((await user.get(`${SESSIONS}/${session}`)).body, { status: 'FAILED', error_message: /24 hours/ })
  t.match((await user.get(`${SESSIONS}/${younger}`)).body, { status: 'IN_PROGRESS', error_message: null })
  t.match(await complete(session), { status: 200, body: { session: { status: 'COMPLETED', error_message: null } } })
  await app.pg.query("update sync_sessions set status = 'CANCELLED' where session_id = $1", [younger])
  t.match(await complete(younger), { status: 400, body: { detail: /CANCELLED already; negotiate/ } })
  await app.pg.query("update sync_sessions set completed_at = now() - interval '31 days' where session_id = $1", [session])
  await app.sync.expire()
  t.equal((await user.get(`${SESSIONS}/${session}`)).status, 404, 'a month later it is forgotten')
  t.equal((await user.get(`${SESSIONS}/${younger}`)).status, 200)
})

/** Collects the sync events that a user's open tab receives. */
async function listenAs (t: Pick<Test, 'teardown'>, username: string) {
  const headers = await test.createUser(username)
  const { rows: [user] } = await app.pg.query<{ id: number }>('select id from users where username = $1', [username])
  const userId = user?.id ?? 0
  const login = await app.inject({ method: 'POST', url: '/api/login', headers })
  const cookie = login.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const socket = io(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, {
    path: '/ws/socket.io', transports: ['websocket'], forceNew: true, extraHeaders: { cookie }
  })
  t.teardown(() => { socket.disconnect() })
  await once(socket as never, 'connect')
  await until(() => app.sockets.main.sockets.adapter.rooms.get(`user:${userId}`)?.has(socket.id ?? '') === true, 'the socket is bound')
  const events: [string, object][] = []
  socket.onAny((name: string, payload: object) => { events.push([name, payload]) })
  return { events, user: { id: userId, ...createCaller(app, headers) } }
}

t.test('sync events reach the tabs of the user only', async (t) => {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const [{ events, user }, stranger] = [await listenAs(t, 'listener'), await listenAs(t, 'stranger')]
  const { rom, device, add, negotiate, complete } = await begin({}, user)
  await add({ name: 'Game.srm', content: 'one' })
  const { session } = await negotiate({ 'Game.srm': 'two' })
  await app.sync.countTransfer(app.db, user.id, session, { file_name: 'Game.srm' })
  await complete(session, { operations_completed: 1 })
  const { session: late } = await negotiate({ 'Game.srm': 'one' })
  await app.pg.query("update sync_sessions set initiated_at = now() - interval '25 hours' where session_id = $1", [late])
  await app.sync.expire()
  await until(() => events.length === 6, 'all six events came')
  const of = { device_id: device.uuid, session_id: session, id: Number }
  t.match(events, [
    ['sync:started', { ...of, sync_mode: 'push_pull' }],
    ['sync:conflict', { ...of, file_name: 'Game.srm', rom_id: rom, rom_name: String, reason: 'Changed on both' }],
    ['sync:progress', { ...of, operations_completed: 1, operations_planned: 1, current_file: 'Game.srm' }],
    ['sync:completed', { ...of, operations_completed: 1, operations_failed: 0 }],
    ['sync:started', { session_id: late }],
    ['sync:error', { session_id: late, device_id: device.uuid, error: /24 hours/ }]
  ])
  t.same(stranger.events, [])
})

t.test('the number of queries does not depend on the number of files', async (t) => {
  const { rom, add, negotiate } = await begin()
  for (let i = 0; i < 60; i++) await add({ name: `${i}.srm`, content: `${i % 3}`, at: i })
  const files = (last: number) => Object.fromEntries(Array.from({ length: last }, (_, i) => [`${i}.srm`, `${i % 4}`]))
  // Loads what the server caches.
  await negotiate(files(1))
  const one = await countQueries(test, () => negotiate(files(4)))
  const many = await countQueries(test, () => negotiate({ ...files(90) }))
  t.equal(many, one)
  t.ok(rom > 0)
})

t.test('concurrent negotiations of one device all succeed', async (t) => {
  const { device, add, negotiate } = await begin()
  const names = Array.from({ length: 20 }, (_, i) => `${i}.srm`)
  for (const name of names) await add({ name, content: name })
  const files = names.map((name): [string, string] => [name, name])
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) =>
    negotiate(Object.fromEntries(i % 2 === 0 ? files : files.toReversed()))))
  t.same([...new Set(answers.map(({ status }) => status))], [200])
  t.equal(Object.keys(await world.listBases(device.id)).length, 20)
})

t.test('a copy of a save with a date tag in its name does not replace the save', async (t) => {
  const { rom, device, add, negotiate } = await begin()
  await add({ name: 'Game.srm', content: 'now', at: 5 })
  t.same((await negotiate({ 'Game.srm': 'now' })).operations, [{ type: 'noop', rom_id: rom, file: 'Game.srm' }])
  const copies = ['Game [2025-01-01_00-00-00].srm', 'Game [2025-02-01_00-00-00].srm'] as const
  for (const files of [[copies[0], 'Game.srm', copies[1]], [copies[1], copies[0], 'Game.srm']]) {
    const contents = Object.fromEntries(files.map((name) => [name, name === 'Game.srm' ? 'now' : name]))
    const { operations } = await negotiate(contents)
    t.same(operations, files.map((file) => ({ type: 'noop', rom_id: rom, file })))
  }
  t.match(await world.listBases(device.id), { 'file:Game.srm': sha1('now') })
  const { operations } = await negotiate(Object.fromEntries(copies.map((name) => [name, name])))
  t.same(operations.map(({ type }: { type: string }) => type), ['noop', 'upload'], 'the copy with the later tag is the save')
})

t.test('of two names that the server stores as one, the last changed file is synced', async (t) => {
  const { rom, add, negotiate } = await begin()
  await add({ name: 'A-B.srm', content: 'now' })
  const list = (plain: number, odd: number) => negotiate({}, {
    roms: [{
      rom_id: rom,
      saves: [
        { file: 'A-B.srm', mtime: timeOf(plain), sha1: sha1('now') }, { file: 'A:B.srm', mtime: timeOf(odd), sha1: sha1('next') }
      ]
    }]
  })
  const typesOf = ({ operations }: { operations: { type: string }[] }) => operations.map(({ type }) => type)
  t.same(typesOf(await list(9, 8)), ['noop', 'noop'])
  t.same(typesOf(await list(9, 10)), ['noop', 'upload'])
})

t.test('of several saves that a device lists in one slot, the one changed last is synced', async (t) => {
  const { user, rom, device, add } = await begin()
  await add({ name: 'Game.srm', content: 'now', slot: 'main' })
  const negotiate = async (...saves: object[]) => {
    const { body } = await user.post(NEGOTIATE, { device_id: device.id, saves })
    return body.operations.map(({ action }: { action: string }) => action)
  }
  const [now, former] = [save(rom, 'main', 'now', { updated_at: timeOf(9) }), save(rom, 'main', 'former', { updated_at: timeOf(8) })]
  t.same(await negotiate(now), ['no_op'])
  t.same(await negotiate(former, now), ['no_op', 'no_op'])
  t.same(await negotiate(now, former), ['no_op', 'no_op'])
  t.same(await negotiate(now, save(rom, 'main', 'next', { updated_at: timeOf(10) }), former), ['no_op', 'upload', 'no_op'])
})

t.test('a file that is listed twice gets two decisions', async (t) => {
  const { rom, add, negotiate } = await begin()
  await add({ name: 'Game.srm', content: 'one' })
  const files = listFiles({ [rom]: { 'Game.srm': 'one', 'Game [2026-01-01_00-00-00].srm': 'one' } })
  const { status, operations } = await negotiate({}, { roms: [...files, ...files] })
  t.equal(status, 200)
  t.same(operations.map((operation: { type: string }) => operation.type), ['noop', 'noop', 'noop', 'noop'])
})
