import t from 'tap'
import { type AssetItem, sha1Of } from './support.ts'
import { startCleanup } from './cleanup-support.ts'

const { sql, newUser, passFirstHour, run } = await startCleanup(t)

t.test('many uploads in a short time do not push a good save out', async (t) => {
  const owner = await newUser()
  const { id } = await owner.save({ rom_id: owner.rom }, 'Game.srm', 'good')
  for (let i = 0; i < 20; i++) await owner.save({ rom_id: owner.rom }, 'Game.srm', `bad ${i}`)
  const slot = { rom_id: owner.rom, slot: 's', autocleanup: true, autocleanup_limit: 1 }
  const first = await owner.save(slot, 'Game.srm', 's0')
  for (let i = 1; i < 15; i++) {
    await sql('update assets set file_name = $2 where id = $1', [first.id, `Game [2020-01-01_00-00-${10 + i}].srm`])
    await owner.save(slot, 'Game.srm', `s${i}`)
  }
  await passFirstHour()
  t.equal((await run()).stats.postponed, null)
  const versions = await owner.versions(id)
  t.equal(versions.length, 20)
  t.ok(versions.some(({ sha1 }) => sha1 === sha1Of('good')))
  t.equal(await owner.content(`/api/saves/${id}/versions/${versions.at(-1)?.id}/content`), 'good')
  t.ok((await owner.get<AssetItem[]>('/api/saves/deleted')).some(({ sha1 }) => sha1 === sha1Of('s0')))
})
