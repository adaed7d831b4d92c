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
