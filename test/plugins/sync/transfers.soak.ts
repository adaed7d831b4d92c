import t from 'tap'
import { sha1 } from './support.ts'
import { startTransfers } from './transfers-support.ts'

const { begin } = await startTransfers(t)

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
