import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { userRoom } from '../../../core/sockets/sockets.ts'
import { awaitEarlierEvents } from '../../core/sockets-support.ts'
import { signIn } from '../auth/support.ts'
import { type Heard, connect, listen, pairDevice } from '../devices/support.ts'
import { addRom } from '../roms/support.ts'
import { until } from '../../until.ts'
import { createCaller } from '../tokens/support.ts'
import { startSecondWorker } from '../tasks/workers-support.ts'
import { headersOf, startInstalls } from './installs-support.ts'

const { test, app, alice, makeDevice, makeGame, age } = await startInstalls(t)

const other = await startSecondWorker(t, test)
const bob = createCaller(app, await test.createUser('bob'))
const NOBODYS = crypto.randomUUID()

const idOf = async (name: string) =>
  (await app.pg.query<{ id: number }>('select id from users where username = $1', [name])).rows[0]?.id ?? 0

/** Opens a browser of a user and collects its install events. */
async function openBrowser (t: Pick<Test, 'teardown'>, name: string): Promise<Heard[]> {
  const { cookie } = await signIn(app, name)
  const socket = io(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, {
    path: '/ws/socket.io', transports: ['websocket'], forceNew: true, extraHeaders: { cookie }
  })
  t.teardown(() => { socket.disconnect() })
  await once(socket as never, 'connect')
  const room = userRoom(await idOf(name))
  await until(() => app.sockets.main.sockets.adapter.rooms.get(room)?.has(socket.id ?? '') === true, 'the socket is bound')
  await awaitEarlierEvents(socket, app, other)
  const heard: Heard[] = []
  socket.on('install:updated', (payload: Record<string, unknown>) => { heard.push({ event: 'install:updated', payload }) })
  return heard
}

t.test('a request goes through the device to its end, with an event for each step', async (t) => {
  const [device, rom, browser] = [await makeDevice(), await makeGame(), await openBrowser(t, 'alice')]
  const heard = listen(await connect(t, app, device.token))
  const { status, body: request } = await alice.post(device.installs, { rom_id: rom })
  t.equal(status, 201)
  t.match(request, {
    id: /^[0-9a-f-]{36}$/, user_id: await idOf('alice'), device_id: device.device_id, rom_id: rom, file_ids: [Number],
    status: 'pending', reason: null, created_at: /\+00:00$/, updated_at: /\+00:00$/
  })
  const lists = [device.installs, `/api/devices/${device.device_id}/installs`, `/api/roms/${rom}/installs`]
  for (const list of lists) t.same((await alice.get(list)).body, [request], list)

  const claimed = await device.calls.post(`${device.installs}/claim`)
  t.match(claimed, { status: 200, body: [{ id: request.id, status: 'taken', created_at: request.created_at }] })
  t.same((await device.calls.post(`${device.installs}/claim`)).body, claimed.body, 'claiming again changes nothing')
  for (const list of lists) t.same((await alice.get(list)).body, claimed.body, list)

  const ended = await device.calls.put(`${device.installs}/${request.id}`, { status: 'done', reason: 'all well' })
  t.match(ended, { status: 200, body: { id: request.id, status: 'done', reason: 'all well' } })
  for (const list of lists) t.same((await alice.get(list)).body, [], list)

  await until(() => browser.length === 3 && heard.length === 1, 'all was heard')
  t.same(browser.map(({ payload }) => payload), [request, claimed.body[0], ended.body])
  t.same(heard, [{ event: 'install:queued', payload: { id: request.id, rom_id: rom } }])
})

for (const [status, kind, level] of [
  ['done', 'device_install_completed', 'success'], ['already_installed', 'device_install_completed', 'success'],
  ['failed', 'device_install_failed', 'error']
] as const) {
  t.test(`the requester is notified of an installation that ended as ${status}`, async (t) => {
    const [device, rom] = [await makeDevice(), await makeGame()]
    await alice.put(`/api/devices/${device.id}`, { name: 'Handheld' })
    const { body: { id } } = await alice.post(device.installs, { rom_id: rom })
    await device.calls.post(`${device.installs}/claim`)
    t.match(await device.calls.put(`${device.installs}/${id}`, { status, reason: 'x'.repeat(500) }), { status: 200 })
    const { rows } = await app.pg.query('select user_id, kind, level, data, actor_id from notifications')
    t.match(rows, [{
      user_id: await idOf('alice'), kind, level, actor_id: null,
      data: { rom_id: rom, rom_name: /^Game \d+$/, device_name: 'Handheld', status, reason: 'x'.repeat(500) }
    }])
    t.match(await device.calls.put(`${device.installs}/${id}`, { status }), {
      status: 200, body: { id, status, reason: 'x'.repeat(500) }
    }, 'a report that is repeated changes nothing')
    const differs = status === 'failed' ? 'done' : 'failed'
    t.match(await device.calls.put(`${device.installs}/${id}`, { status: differs }), { status: 404 }, 'it ends once')
    t.equal((await app.pg.query('select 1 from notifications')).rowCount, 1)
  })
}

t.test('browsers follow the progress of an installation that its device reports', async (t) => {
  const [device, rom] = [await makeDevice(), await makeGame()]
  const browser = await openBrowser(t, 'alice')
  const { body: { id } } = await alice.post(device.installs, { rom_id: rom })
  const path = `${device.installs}/${id}/progress`
  t.match(await device.calls.put(path, { percent: 10 }), { status: 404 }, 'it is not claimed yet')
  await device.calls.post(`${device.installs}/claim`)
  t.match(await device.calls.put(path, { percent: 40 }), { status: 200, body: { id, status: 'taken', percent: 40 } })
  t.match(await device.calls.put(path, { percent: 40 }), { status: 200 })
  for (const percent of [-1, 101, 'half']) t.match(await device.calls.put(path, { percent }), { status: 422 })
  t.match(await (await makeDevice(bob)).calls.put(path, { percent: 50 }), { status: 404 }, 'another device reports nothing')
  await device.calls.put(`${device.installs}/${id}`, { status: 'done' })
  t.match(await device.calls.put(path, { percent: 90 }), { status: 404 }, 'it has ended')
  await until(() => browser.some(({ payload }) => payload.status === 'done'), 'the end is heard')
  t.same(browser.map(({ payload: { status, percent } }) => [status, percent]),
    [['pending', null], ['taken', null], ['taken', 40], ['done', null]], 'the same percentage is sent once')
})

t.test('requests and events contain the device id that its registration returned', async (t) => {
  const heard = await openBrowser(t, 'alice')
  for (const client of [null, 'companion']) {
    const { body: device } = await alice.post('/api/devices', { client, capabilities: { remote_install: true }, allow_duplicate: true })
    const id = client === null ? device.id : device.device_id
    const { body: request } = await alice.post(`/api/devices/${device.device_id}/installs`, { rom_id: await makeGame() })
    t.equal(request.device_id, id)
    await until(() => heard.some(({ payload }) => payload.id === request.id && payload.device_id === id), 'the owner is told')
  }
})

t.test('the files are the game, its updates and its DLC, by id', async (t) => {
  const device = await makeDevice()
  const rom = await addRom(test, { fs_name: 'Big game', files: ['a.bin', 'b.bin', 'c.bin', 'd.bin', 'e.bin'] })
  const { rows } = await app.pg.query<{ id: number }>('select id from rom_files where rom_id = $1 order by id', [rom])
  const ids = rows.map(({ id }) => id)
  for (const [index, category] of [null, 'update', 'manual', 'dlc', 'soundtrack'].entries()) {
    await app.pg.query('update rom_files set category = $2 where id = $1', [ids[index], category])
  }
  t.same((await alice.post(device.installs, { rom_id: rom })).body.file_ids, [ids[0], ids[1], ids[3]])
})

t.test('a game that is already requested is not requested again', async (t) => {
  const [device, second, rom] = [await makeDevice(), await makeDevice(), await makeGame()]
  const heard = listen(await connect(t, app, device.token))
  const { body: first } = await alice.post(device.installs, { rom_id: rom })
  t.match(await alice.post(device.installs, { rom_id: rom }), { status: 200, body: first })
  await device.calls.post(`${device.installs}/claim`)
  t.match(await alice.post(device.installs, { rom_id: rom }), { status: 200, body: { id: first.id, status: 'taken' } })
  t.match(await alice.post(second.installs, { rom_id: rom }), { status: 201 }, 'another device is another thing')
  await alice.delete(`${device.installs}/${first.id}`)
  const again = await alice.post(device.installs, { rom_id: rom })
  t.equal(again.status, 201)
  t.not(again.body.id, first.id)
  await until(() => heard.length === 3, 'the device heard of two requests and one cancellation')
  t.same(heard.map(({ event }) => event), ['install:queued', 'install:cancelled', 'install:queued'])
})

t.test('twenty concurrent requests for one game create one request', async (t) => {
  const [device, rom] = [await makeDevice(), await makeGame()]
  const elsewhere = createCaller(other, await headersOf('alice'))
  const replies = await Promise.all(Array.from({ length: 20 }, (_, number) =>
    (number % 2 === 0 ? alice : elsewhere).post(device.installs, { rom_id: rom })))
  t.same(replies.map(({ status }) => status).sort(), [...Array<number>(19).fill(200), 201])
  t.equal(new Set(replies.map(({ body }) => body.id)).size, 1)
})

t.test('twenty concurrent claims in two processes claim each request once', async (t) => {
  const [device, browser] = [await makeDevice(), await openBrowser(t, 'alice')]
  for (let count = 0; count < 5; count++) await alice.post(device.installs, { rom_id: await makeGame() })
  const elsewhere = createCaller(other, { authorization: `Bearer ${device.token}` })
  const replies = await Promise.all(Array.from({ length: 20 }, (_, number) =>
    (number % 2 === 0 ? device.calls : elsewhere).post(`${device.installs}/claim`)))
  const { body: held } = await alice.get(device.installs)
  t.equal(held.length, 5)
  for (const reply of replies) t.same(reply, { ...reply, status: 200, body: held }, 'everyone is told all that it holds')
  // The last events of both processes: all events before them have arrived.
  for (const [index, owner] of [alice, createCaller(other, await headersOf('alice'))].entries()) {
    await owner.delete(`${device.installs}/${held[index].id}`)
  }
  await until(() => browser.filter(({ payload }) => payload.status === 'cancelled').length === 2, 'the last events arrived')
  t.equal(browser.filter(({ payload }) => payload.status === 'taken').length, 5)
})

t.test('of concurrent ways to end a request, one wins', async (t) => {
  const [device, browser] = [await makeDevice(), await openBrowser(t, 'alice')]
  const { body: { id } } = await alice.post(device.installs, { rom_id: await makeGame() })
  await device.calls.post(`${device.installs}/claim`)
  await until(() => browser.length === 2, 'two steps were heard')
  const elsewhere = createCaller(other, { authorization: `Bearer ${device.token}` })
  const url = `${device.installs}/${id}`
  const replies = await Promise.all(Array.from({ length: 20 }, (_, number) =>
    number % 2 === 0 ? elsewhere.delete(url) : device.calls.put(url, { status: 'failed' })))
  const ended = replies.filter(({ status }) => status === 200)
  t.equal(new Set(ended.map(({ body }) => body.status)).size, 1, 'all that succeeded say the same')
  t.ok(ended.length === 1 || ended.every(({ body }) => body.status === 'failed'), 'a cancellation succeeds once')
  t.equal(replies.filter(({ status }) => status === 404).length, 20 - ended.length)
  await until(() => browser.length === 3, 'three steps were heard')
  t.match(browser.map(({ payload }) => payload.status), ['pending', 'taken', ended[0]?.body.status])
})

t.test('only the device itself claims and reports', async (t) => {
  const [device, second, rom] = [await makeDevice(), await makeDevice(), await makeGame()]
  const { body: { id } } = await alice.post(device.installs, { rom_id: rom })
  const { body: unbound } = await alice.post('/api/client-tokens', {
    name: 'x', scopes: ['devices.read', 'devices.write', 'roms.read']
  })
  const calls = {
    'its owner': [alice, 403], 'a token that is bound to no device': [createCaller(app, { authorization: `Bearer ${unbound.raw_token}` }), 403],
    'another device of the owner': [second.calls, 404], 'somebody else': [bob, 404]
  } as const
  for (const [who, [caller, status]] of Object.entries(calls)) {
    t.match(await caller.post(`${device.installs}/claim`), { status }, `${who} claims`)
    t.match(await caller.put(`${device.installs}/${id}`, { status: 'done' }), { status }, `${who} reports`)
  }
  for (const caller of [second.calls, bob]) {
    t.match(await caller.get(device.installs), { status: 404 })
    t.match(await caller.post(device.installs, { rom_id: rom }), { status: 404 })
    t.match(await caller.delete(`${device.installs}/${id}`), { status: 404 })
  }
  t.match((await alice.get(device.installs)).body, [{ id, status: 'pending' }])
  t.match(await device.calls.delete(`${device.installs}/${id}`), { status: 200, body: { status: 'cancelled' } })
})

t.test('an unclaimed request cannot be reported, and an ended one is gone', async (t) => {
  const device = await makeDevice()
  const { body: { id } } = await alice.post(device.installs, { rom_id: await makeGame() })
  t.match(await device.calls.put(`${device.installs}/${id}`, { status: 'done' }), { status: 409, body: { detail: /claim it first/ } })
  for (const status of ['cancelled', 'taken', 'pending', 'x']) {
    t.match(await device.calls.put(`${device.installs}/${id}`, { status }), { status: 422 })
  }
  t.match(await device.calls.put(`${device.installs}/${id}`, { status: 'failed', reason: 'x'.repeat(501) }), { status: 422 })
  t.match(await alice.delete(`${device.installs}/${id}`), { status: 200, body: { id, status: 'cancelled' } })
  t.match(await alice.delete(`${device.installs}/${id}`), { status: 404 })
  t.match(await device.calls.put(`${device.installs}/${id}`, { status: 'done' }), { status: 404 })
  t.match(await device.calls.put(`${device.installs}/${NOBODYS}`, { status: 'done' }), { status: 404 })
  t.same((await device.calls.post(`${device.installs}/claim`)).body, [])
})

t.test('a game that cannot be installed is refused', async (t) => {
  const [device, plain] = [await makeDevice(), await pairDevice(app, alice)]
  const [rom, excluded, missing, fileless] = [await makeGame(), await makeGame('win'), await makeGame(), await makeGame()]
  await app.pg.query('update roms set missing_from_fs = true where id = $1', [missing])
  await app.pg.query("update rom_files set category = 'manual' where rom_id = $1", [fileless])
  const ask = (installs: string, game: unknown) => alice.post(installs, { rom_id: game })
  t.match(await ask(`/api/devices/${plain.id}/installs`, rom), { status: 400, body: { detail: /remote_install/ } })
  await alice.put(`/api/devices/${plain.id}`, { capabilities: { remote_install: false } })
  t.match(await ask(`/api/devices/${plain.id}/installs`, rom), { status: 400 })
  t.match(await ask(device.installs, excluded), { status: 400, body: { detail: /'win'/ } })
  for (const one of [missing, fileless]) t.match(await ask(device.installs, one), { status: 400, body: { detail: /no file/ } })
  t.match(await ask(device.installs, 2_000_000_000), { status: 404 })
  for (const wrong of [0, '1', null, 3_000_000_000]) t.match(await ask(device.installs, wrong), { status: 422 })
  t.same((await alice.get(device.installs)).body, [])
})

t.test('a hidden game cannot be requested and is in no list', async (t) => {
  const [device, hidden, shown] = [await makeDevice(), await makeGame(), await makeGame()]
  for (const rom of [hidden, shown]) await alice.post(device.installs, { rom_id: rom })
  await app.pg.query("insert into hidden_entities (entity, entity_id, user_id) values ('roms', $1, $2)", [hidden, await idOf('alice')])
  t.match(await alice.get(`/api/roms/${hidden}/installs`), { status: 404 })
  t.match(await alice.post(device.installs, { rom_id: hidden }), { status: 404 })
  t.match((await alice.get(device.installs)).body, [{ rom_id: shown }])
  t.equal((await alice.get(device.installs)).body.length, 1)
  t.match((await device.calls.post(`${device.installs}/claim`)).body, [{ rom_id: shown }])
  t.same((await bob.get(`/api/roms/${shown}/installs`)).body, [], 'the requests of others are not shown')
})

t.test('for a hidden game no event is sent, and its request cannot be cancelled', async (t) => {
  const [device, hidden, shown, browser] = [await makeDevice(), await makeGame(), await makeGame(), await openBrowser(t, 'alice')]
  const { body: { id } } = await alice.post(device.installs, { rom_id: hidden })
  await device.calls.post(`${device.installs}/claim`)
  await app.pg.query("insert into hidden_entities (entity, entity_id, user_id) values ('roms', $1, $2)", [hidden, await idOf('alice')])
  t.match(await alice.delete(`${device.installs}/${id}`), { status: 404 })
  t.match(await device.calls.put(`${device.installs}/${id}`, { status: 'done' }), { status: 200 })
  await alice.post(device.installs, { rom_id: shown })
  await until(() => browser.length === 3, 'what came after was heard')
  t.match(browser.map(({ payload }) => [payload.rom_id, payload.status]), [[hidden, 'pending'], [hidden, 'taken'], [shown, 'pending']])
  t.equal((await app.pg.query('select 1 from notifications')).rowCount, 0)
})

t.test('a request without progress expires', async (t) => {
  const [device, rom] = [await makeDevice(), await makeGame()]
  const { body: { id } } = await alice.post(device.installs, { rom_id: rom })
  await age('47 hours')
  t.equal((await alice.get(device.installs)).body.length, 1)
  await device.calls.post(`${device.installs}/claim`)
  await age('49 hours')
  t.same((await alice.get(device.installs)).body, [])
  t.same((await alice.get(`/api/roms/${rom}/installs`)).body, [])
  t.same((await device.calls.post(`${device.installs}/claim`)).body, [])
  t.match(await device.calls.put(`${device.installs}/${id}`, { status: 'done' }), { status: 404 })
  t.match(await alice.delete(`${device.installs}/${id}`), { status: 404 })
  const again = await alice.post(device.installs, { rom_id: rom })
  t.equal(again.status, 201)
  t.not(again.body.id, id)
})

t.test('clean-up deletes expired and ended requests', async (t) => {
  const device = await makeDevice()
  const ask = async () => (await alice.post(device.installs, { rom_id: await makeGame() })).body.id as string
  const ids = [await ask(), await ask()]
  await alice.delete(`${device.installs}/${ids[0]}`)
  const left = async () => {
    await app.installs.purge()
    return (await app.pg.query<{ id: string }>('select id from install_requests')).rows.map(({ id }) => id)
  }
  t.equal((await left()).length, 2)
  await age('25 hours')
  t.same(await left(), [ids[1]])
  await age('49 hours')
  t.same(await left(), [])
})

t.test('deleting a device deletes its requests', async (t) => {
  const device = await makeDevice()
  await alice.post(device.installs, { rom_id: await makeGame() })
  await app.inject({ method: 'DELETE', url: `/api/devices/${device.id}`, headers: await headersOf('alice') })
  t.equal((await app.pg.query('select 1 from install_requests')).rowCount, 0)
})
