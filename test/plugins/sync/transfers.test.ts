import t from 'tap'
import { sha1 } from './support.ts'
import { startTransfers } from './transfers-support.ts'

const { world, begin } = await startTransfers(t)

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
