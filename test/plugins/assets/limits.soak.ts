import t from 'tap'
import { until } from '../../until.ts'
import { addRom } from '../roms/support.ts'
import { startLimits } from './limits-support.ts'

const { test, app, alice } = await startLimits(t)

t.test('a scan attaches saves to a ROM that is back in the library', async (t) => {
  const back = await addRom(test, { fs_name: 'Back.sfc' })
  const save = await alice.save({ rom_id: back }, 'Back.srm', 'one')
  await app.pg.query('delete from roms where id = $1', [back])
  t.equal((await alice.get(`/api/saves/${save.id}`)).rom_id, null)
  await app.inject({ method: 'POST', url: '/api/tasks/scan', headers: test.admin, payload: { type: 'quick' } })
  await until(async () => (await alice.get(`/api/saves/${save.id}`)).rom_id !== null, 'its ROM')
  const { rom_id: found } = await alice.get(`/api/saves/${save.id}`)
  t.match(await alice.get(`/api/roms/${found}`), { fs_name: 'Back.sfc', user_saves: [{ id: save.id }] })
})
