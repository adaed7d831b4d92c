import t from 'tap'
import { buildTestApp } from '../../support.ts'
import { createClient, createForm } from '../assets/support.ts'
import { addRom } from '../roms/support.ts'
import { createSyncWorld, listFiles, sha1 } from './support.ts'
import { bearer, createCaller } from '../tokens/support.ts'

interface Operation { type: string, file: string, destination?: string, source?: string, dest_path?: string }
type Device = Awaited<ReturnType<typeof world.addDevice>>

const test = await buildTestApp(t)
const { app } = test
const world = createSyncWorld(test)
let count = 0

/** A companion app that only follows the specification, with its files. */
async function addClient (user: Awaited<ReturnType<typeof world.addUser>>, rom: number, device: Device) {
  const headers = await world.addApp(user.id, device.id, ['assets.read', 'assets.write', 'devices.write'])
  const caller = createCaller(app, headers)
  const files: Record<string, string> = {}
  let completed = 0

  async function send (url: string, fileName: string, content: string): Promise<number> {
    const form = createForm([{ name: 'file', fileName, content }])
    return (await app.inject({ method: 'POST', url, headers: { ...headers, ...form.headers }, payload: form.payload })).statusCode
  }

  async function carryOut ({ type, file, destination, source, dest_path: path }: Operation): Promise<void> {
    if (type === 'noop') return
    if (destination !== undefined) t.equal(await send(destination, file, files[file] ?? ''), 200, `${type}: ${destination}`)
    if (source !== undefined && path !== undefined) {
      const reply = await app.inject({ url: source, headers })
      t.equal(reply.statusCode, 200, `${type}: ${source}`)
      files[path] = reply.body
    }
    completed++
  }

  return {
    files,
    /** @returns the operations of the sync */
    async sync ({ completes = true } = {}): Promise<string[]> {
      const { body: { session_id: session, operations } } = await caller.post('/api/sync/negotiate',
        { device_id: device.id, roms: listFiles({ [rom]: files }) })
      completed = 0
      for (const operation of operations as Operation[]) await carryOut(operation)
      const told = (operations as Operation[]).map(({ type, file }) => `${type} ${file}`).sort()
      if (!completes) return told
      const done = await caller.post(`/api/sync/sessions/${session}/complete`, { operations_completed: completed, operations_failed: 0 })
      t.match(done, { status: 200, body: { session: { operations_planned: completed } } })
      return told
    }
  }
}

async function begin (device: object = {}) {
  const name = `player${++count}`
  const user = await world.addUser(name)
  /** A user of the server's web pages. */
  const owner = createClient(test, bearer(`svc_${name}`))
  const rom = await addRom(test, { fs_name: `game${count}.sfc` })
  const deck = await addClient(user, rom, await world.addDevice(user.id, device))
  const phone = await addClient(user, rom, await world.addDevice(user.id, device))
  const kept = async () => {
    const { rows } = await app.pg.query<{ sha1: string }>(`select sha1 from assets where user_id = $1
      union select v.sha1 from asset_versions v join assets a on a.id = v.asset_id where a.user_id = $1`, [user.id])
    return new Set(rows.map((row) => row.sha1))
  }
  return { user, owner, rom, deck, phone, kept }
}

t.test('two devices end with the same files, and unchanged files stay as they are', async (t) => {
  const { deck, phone } = await begin()
  Object.assign(deck.files, { 'Game.srm': 'one', 'Game.state1': 'state' })
  t.same(await deck.sync(), ['upload Game.srm', 'upload Game.state1'])
  t.same(await phone.sync(), ['download Game.srm', 'download Game.state1'])
  t.same(phone.files, deck.files)
  for (const device of [deck, phone]) t.same(await device.sync(), ['noop Game.srm', 'noop Game.state1'])
  phone.files['Game.srm'] = 'two'
  t.same(await phone.sync(), ['noop Game.state1', 'upload Game.srm'])
  t.same(await deck.sync(), ['download Game.srm', 'noop Game.state1'])
  t.equal(deck.files['Game.srm'], 'two')
  delete deck.files['Game.srm']
  t.same(await deck.sync(), ['noop Game.state1'], 'what was removed on purpose is not brought back')
})

t.test('a conflict loses nothing, however it is resolved, and then it is over', async (t) => {
  for (const resolution of ['keep_both', 'server_wins', 'device_wins']) {
    const { deck, phone, kept } = await begin({ sync_config: { conflict_resolution: resolution } })
    deck.files['Game.srm'] = 'one'
    await deck.sync()
    await phone.sync()
    Object.assign(deck.files, { 'Game.srm': 'of the deck' })
    Object.assign(phone.files, { 'Game.srm': 'of the phone' })
    t.same(await deck.sync(), ['upload Game.srm'])
    t.same(await phone.sync(), ['conflict Game.srm'], resolution)
    const all = await kept()
    for (const content of ['one', 'of the deck', 'of the phone']) t.ok(all.has(sha1(content)), `${resolution}: ${content}`)
    t.same(await phone.sync(), ['noop Game.srm'])
    await deck.sync()
    t.same(await deck.sync(), ['noop Game.srm'])
    t.same(deck.files, phone.files, resolution)
  }
})

t.test('a file whose slot has newer content is uploaded beside it', async (t) => {
  const { user, rom, deck } = await begin()
  await world.addAsset(user.id, { rom, name: 'Game [2026-01-01_00-00-00].srm', content: 'one', slot: 'auto' })
  deck.files['Game.srm'] = 'one'
  await deck.sync()
  await world.addAsset(user.id, { rom, name: 'Game [2026-01-02_00-00-00].sav', content: 'other', slot: 'auto', at: 60 })
  deck.files['Game.sav'] = 'other'
  deck.files['Game.srm'] = 'two'
  t.same(await deck.sync(), ['noop Game.sav', 'upload Game.srm'])
  t.same(await deck.sync(), ['noop Game.sav', 'noop Game.srm'])
})

t.test('a deleted file stays deleted on a device that held another save of its name', async (t) => {
  for (const [before, after] of [[{}, { slot: 'main' }], [{ slot: 'main' }, {}], [{ slot: 'main' }, { slot: 'other' }]]) {
    const { owner, rom, deck } = await begin()
    await owner.save({ rom_id: rom, ...before }, 'Game.srm', 'one')
    t.same(await deck.sync(), ['download Game.srm'])
    const { id } = await owner.save({ rom_id: rom, ...after }, 'Game.srm', 'two')
    t.same(await deck.sync(), ['download Game.srm'])
    await owner.call('POST', '/api/saves/delete', { saves: [id] })
    t.same(await deck.sync(), ['download Game.srm'])
    t.equal(deck.files['Game.srm'], 'one')
    t.same(await deck.sync(), ['noop Game.srm'])
    t.same((await owner.get<{ sha1: string }[]>(`/api/saves?rom_id=${rom}`)).map((save) => save.sha1), [sha1('one')])
  }
})

t.test('a restored version stays current after an earlier conflict', async (t) => {
  for (const resolution of ['keep_both', 'server_wins']) {
    for (const completes of [true, false]) {
      const { owner, rom, deck, phone } = await begin({ sync_config: { conflict_resolution: resolution } })
      deck.files['Game.srm'] = 'one'
      await deck.sync()
      await phone.sync()
      deck.files['Game.srm'] = 'of the deck'
      phone.files['Game.srm'] = 'of the phone'
      await deck.sync()
      t.same(await phone.sync({ completes }), ['conflict Game.srm'])
      const [save] = (await owner.get<{ id: number, conflict_of: number | null }[]>(`/api/saves?rom_id=${rom}`))
        .filter((one) => one.conflict_of === null)
      const version = (await owner.versions(save?.id ?? 0)).find((one) => one.sha1 === sha1('one'))
      await owner.call('POST', `/api/saves/${save?.id}/versions/${version?.id}/restore`, {})
      for (const device of [phone, deck]) {
        t.same(await device.sync(), ['download Game.srm'], `${resolution}, ${completes ? 'completed' : 'broken off'}`)
        t.equal(device.files['Game.srm'], 'one')
      }
    }
  }
})

t.test("a receiving device uploads its file as a version and gets the server's content", async (t) => {
  const { owner, rom, deck, phone, kept } = await begin({ sync_mode: 'pull_only', sync_config: { conflict_resolution: 'device_wins' } })
  const save = await owner.save({ rom_id: rom }, 'Game.srm', 'one')
  await deck.sync()
  deck.files['Game.srm'] = 'of the deck'
  t.same(await deck.sync(), ['noop Game.srm'], 'its own changes are its own')
  await owner.save({ rom_id: rom }, 'Game.srm', 'two')
  for (const device of [deck, phone]) {
    phone.files['Game.srm'] = 'of the phone'
    t.same(await device.sync(), ['conflict Game.srm'])
    t.equal(device.files['Game.srm'], 'two')
    t.same(await device.sync(), ['noop Game.srm'])
  }
  t.same((await owner.get<{ sha1: string }[]>(`/api/saves?rom_id=${rom}`)).map((one) => one.sha1), [sha1('two')])
  t.same((await owner.versions(save.id)).map((one) => one.sha1), ['of the phone', 'of the deck', 'one'].map(sha1))
  t.equal((await kept()).size, 4)
})

t.test('a device that goes back to former content has changed its file', async (t) => {
  const { deck, phone } = await begin()
  for (const content of ['one', 'two']) {
    deck.files['Game.srm'] = content
    await deck.sync()
  }
  deck.files['Game.srm'] = 'one'
  t.same(await deck.sync(), ['upload Game.srm'])
  await phone.sync()
  t.equal(phone.files['Game.srm'], 'one')
})
