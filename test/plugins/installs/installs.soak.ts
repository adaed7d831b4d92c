import t from 'tap'
import { buildTestApp } from '../../support.ts'
import { createCaller } from '../tokens/support.ts'
import { headersOf, startInstalls } from './installs-support.ts'

const { databaseUrl, alice, makeDevice, makeGame, age } = await startInstalls(t)

t.test('a lifetime of 0 disables expiry, and the excluded platforms are configurable', async (t) => {
  const own = await buildTestApp(t, {
    databaseUrl, withoutAdmin: true,
    env: { DEVICE_INSTALL_REQUEST_TTL_DAYS: '0', DEVICE_INSTALL_EXCLUDED_PLATFORM_SLUGS: 'SNES' }
  })
  const device = await makeDevice()
  await alice.post(device.installs, { rom_id: await makeGame() })
  await age('1000 days')
  const caller = createCaller(own.app, await headersOf('alice'))
  t.equal((await caller.get(device.installs)).body.length, 1)
  t.match(await caller.post(device.installs, { rom_id: await makeGame() }), { status: 400, body: { detail: /'snes'/ } })
  t.match(await caller.post(device.installs, { rom_id: await makeGame('win') }), { status: 201 })
  await own.app.installs.purge()
  t.equal((await caller.get(device.installs)).body.length, 2)
})

t.test('disabled installs answer 404 on all routes', async (t) => {
  const off = await buildTestApp(t, { databaseUrl, withoutAdmin: true, env: { DEVICE_INSTALL_ENABLED: 'false' } })
  const [device, rom] = [await makeDevice(), await makeGame()]
  const { body: { id } } = await alice.post(device.installs, { rom_id: rom })
  const caller = createCaller(off.app, { authorization: `Bearer ${device.token}` })
  const replies = [
    await caller.post(device.installs, { rom_id: rom }),
    await caller.get(device.installs),
    await caller.post(`${device.installs}/claim`),
    await caller.put(`${device.installs}/${id}`, { status: 'done' }),
    await caller.delete(`${device.installs}/${id}`),
    await caller.get(`/api/roms/${rom}/installs`)
  ]
  for (const reply of replies) t.match(reply, { status: 404, body: { detail: /DEVICE_INSTALL_ENABLED/ } })
  t.match(await createCaller(off.app).get(device.installs), { status: 401 })
  t.match(await caller.get('/api/devices/online'), { status: 200 })
})
