import t, { type Test } from 'tap'
import { type TestApp, shareTestApp } from '../../support.ts'
import { addDevice, createClient } from '../assets/support.ts'
import { addRom } from '../roms/support.ts'

/** Rounds of each pair of requests; `npm run soak` runs more. */
const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 4)

const fresh = shareTestApp(t)

interface Reply { statusCode: number, body: string }
type Request = () => Promise<Reply>

/** Sends two requests at once, in either order, and checks that no response is a server error. */
async function cross (t: Test, name: string, round: number, requests: readonly Request[]): Promise<Reply[]> {
  const order = round % 2 === 0 ? requests : requests.toReversed()
  const replies = await Promise.all(order.map((request) => request()))
  for (const { statusCode, body } of replies) t.ok(statusCode < 500, `${name}: ${statusCode} ${body}`)
  return round % 2 === 0 ? replies : replies.toReversed()
}

async function prepare (test: TestApp) {
  const headers = await test.createUser('alice')
  const admin = createClient(test, test.admin)
  return { alice: createClient(test, headers), admin, rom: await addRom(test, { fs_name: 'Game.sfc' }) }
}

t.test('a token deleted during pairing, exchange or renewal is gone or whole, never half', async (t) => {
  const test = await fresh(t)
  const { alice } = await prepare(test)
  for (let round = 0; round < ROUNDS; round++) {
    const { id } = (await alice.call('POST', '/api/client-tokens', { name: 'Handheld', scopes: ['me.read'] })).json<{ id: number }>()
    const pair = () => alice.call('POST', `/api/client-tokens/${id}/pair`)
    const { code } = (await pair()).json<{ code: string }>()
    const exchange = () => test.app.inject({
      method: 'POST', url: '/api/client-tokens/exchange', payload: { code }, remoteAddress: `192.0.2.${round}`
    })
    const regenerate = () => alice.call('PUT', `/api/client-tokens/${id}/regenerate`)
    const remove = () => alice.call('DELETE', `/api/client-tokens/${id}`)
    const others = [pair, exchange, regenerate]
    await cross(t, 'token', round, [...others, remove])
    t.equal((await alice.call('GET', '/api/client-tokens')).body, '[]')
    t.equal((await test.app.pg.query('select 1 from pairing_codes where token_id is not null')).rowCount, 0)
    const late = await exchange()
    t.equal(late.statusCode, 404, late.body)
  }
})

t.test('requests of a device that is deleted during a sync get a client error', async (t) => {
  const test = await fresh(t)
  const { alice, rom } = await prepare(test)
  const kept = await alice.save({ rom_id: rom }, 'Kept.srm', 'kept')
  const actions: Record<string, (device: string) => Promise<Reply>> = {
    upload: (device) => alice.send('POST', '/api/saves', { rom_id: rom, device_id: device, overwrite: true },
      [{ name: 'saveFile', fileName: 'Kept.srm', content: crypto.randomUUID() }]),
    download: (device) => alice.call('GET', `/api/saves/${kept.id}/content?device_id=${device}`),
    downloaded: (device) => alice.call('POST', `/api/saves/${kept.id}/downloaded`, { device_id: device }),
    untrack: (device) => alice.call('POST', `/api/saves/${kept.id}/untrack`, { device_id: device }),
    track: (device) => alice.call('POST', `/api/saves/${kept.id}/track`, { device_id: device }),
    negotiate: (device) => alice.call('POST', '/api/sync/negotiate', { device_id: device, saves: [] }),
    play: (device) => alice.call('POST', '/api/activity/heartbeat', { device_id: device, rom_id: rom }),
    change: (device) => alice.call('PUT', `/api/devices/${device}`, { name: 'Other' })
  }
  for (const [name, action] of Object.entries(actions)) {
    for (let round = 0; round < ROUNDS; round++) {
      const { device_id: device } = await addDevice(test, 'alice', 'Deck')
      if (round % 3 === 0) await action(device)
      const remove = () => alice.call('DELETE', `/api/devices/${device}`)
      const replies = await cross(t, name, round, [() => action(device), remove])
      t.equal(replies[1]?.statusCode, 204, `${name}: the deletion itself`)
      t.ok([200, 201, 204, 404, 409].includes(replies[0]?.statusCode ?? 0), `${name}: ${replies[0]?.statusCode}`)
    }
  }
  t.equal((await test.app.pg.query('select 1 from devices')).rowCount, 0)
})

t.test('completing a session of a deleted device succeeds or answers that it is gone', async (t) => {
  const test = await fresh(t)
  const { alice } = await prepare(test)
  for (let round = 0; round < ROUNDS; round++) {
    const { device_id: device } = await addDevice(test, 'alice', 'Deck')
    const opened = await alice.call('POST', '/api/sync/negotiate', { device_id: device, saves: [] })
    const session = opened.json<{ session_id: number }>().session_id
    await cross(t, 'complete', round, [
      () => alice.call('POST', `/api/sync/sessions/${session}/complete`, { operations_completed: 0, operations_failed: 0 }),
      () => alice.call('DELETE', `/api/devices/${device}`)
    ])
  }
})

t.test('rules for a user or group deleted meanwhile conflict or are deleted with it', async (t) => {
  const test = await fresh(t)
  const { admin, rom } = await prepare(test)
  for (let round = 0; round < ROUNDS; round++) {
    await test.createUser(`user${round}`)
    const { rows: [user] } = await test.app.pg.query<{ id: number }>('select max(id) as id from users')
    const group = (await admin.call('POST', '/api/permissions/groups', { name: `Group ${round}` })).json<{ id: number }>().id
    const rules = `/api/permissions/users/${user?.id}`
    await cross(t, 'group', round, [
      () => admin.call('PUT', rules, { set_group: true, permission_group_id: group }),
      () => admin.call('PUT', `/api/permissions/groups/${group}`, { name: `Other ${round}`, grants: [{ entity: 'roms', action: 'read' }] }),
      () => admin.call('POST', '/api/permissions/hidden', { entity: 'roms', entity_id: rom, group_id: group }),
      () => admin.call('DELETE', `/api/permissions/groups/${group}`)
    ])
    await cross(t, 'user', round, [
      () => admin.call('PUT', rules, { overrides: [{ entity: 'roms', action: 'read', granted: false }] }),
      () => admin.call('POST', '/api/permissions/hidden', { entity: 'roms', entity_id: rom, user_id: user?.id }),
      () => admin.call('DELETE', `/api/users/${user?.id}`)
    ])
  }
})

t.test("concurrent changes of a user's rules end with the rules of one request", async (t) => {
  const test = await fresh(t)
  const { admin } = await prepare(test)
  const { rows: [user] } = await test.app.pg.query<{ id: number }>("select id from users where username = 'alice'")
  const set = (granted: boolean) => () => admin.call('PUT', `/api/permissions/users/${user?.id}`, {
    overrides: [{ entity: 'roms', action: 'write', granted }, { entity: 'collections', action: 'write', granted }]
  })
  for (let round = 0; round < ROUNDS; round++) {
    await admin.call('PUT', `/api/permissions/users/${user?.id}`, { overrides: [] })
    const replies = await cross(t, 'rules', round, [set(true), set(false), set(true), set(false)])
    t.same(replies.map((reply) => reply.statusCode), [200, 200, 200, 200])
    const { rows } = await test.app.pg.query('select distinct granted from permission_overrides')
    t.equal(rows.length, 1)
  }
})

t.test('concurrent notes with the same title: one succeeds', async (t) => {
  const test = await fresh(t)
  const { alice, rom } = await prepare(test)
  for (let round = 0; round < ROUNDS; round++) {
    const ids = await Promise.all([1, 2].map(async (note) =>
      (await alice.call('POST', `/api/roms/${rom}/notes`, { title: `Note ${round} ${note}` })).json<{ id: number }>().id))
    const replies = await cross(t, 'notes', round, ids.map((id) => () => alice.call('PUT', `/api/roms/${rom}/notes/${id}`, { title: `Same ${round}` })))
    t.same(replies.map((reply) => reply.statusCode).sort(), [200, 409])
  }
})
