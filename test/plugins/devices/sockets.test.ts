import type { AddressInfo } from 'node:net'
import { mock } from 'node:test'
import type { Socket } from 'socket.io-client'
import t, { type Test } from 'tap'
import { userRoom } from '../../../core/sockets/sockets.ts'
import { buildTestApp } from '../../support.ts'
import { type Caller, type PairedDevice, connect, listen, openSocket, pairDevice, shake } from './support.ts'
import { until } from '../../until.ts'
import { bearer, createCaller } from '../tokens/support.ts'
import { buildWorker, startSecondWorker, untilConnected } from '../tasks/workers-support.ts'

declare module '../../../core/sockets/sockets.ts' {
  interface ServerEvents { 'test:told': { text: string } }
}
declare module '../../../plugins/devices/events.ts' {
  interface DeviceEvents { 'test:asked': { number: number } }
}

const HALF_MINUTE_MS = 30_000

// Mocked intervals run only when a test advances the time.
mock.timers.enable({ apis: ['setInterval'] })
t.teardown(() => { mock.timers.reset() })

const test = await buildTestApp(t)
const { app, databaseUrl } = test
const other = await startSecondWorker(t, test)

const admin = createCaller(app, test.admin)
const alice = createCaller(app, await test.createUser('alice'))
const bob = createCaller(app, await test.createUser('bob'))
const idOf = async (name: string) =>
  (await app.pg.query<{ id: number }>('select id from users where username = $1', [name])).rows[0]?.id ?? 0

const online = async (user: Caller) => (await user.get('/api/devices/online')).body as string[]
const isOnline = async (user: Caller, device: PairedDevice) => (await online(user)).includes(device.device_id)

async function areClosed (sockets: readonly Socket[]): Promise<boolean> {
  await until(() => sockets.every((socket) => !socket.connected), 'the sockets are closed')
  return true
}

async function isGone (user: Caller, device: PairedDevice): Promise<boolean> {
  await until(async () => !await isOnline(user, device), 'the device is offline')
  return true
}

t.test('a device connects with the token of its payload, or else of its header', async (t) => {
  const { token } = await pairDevice(app, alice)
  const wrong = `svc_${'0'.repeat(64)}`
  for (const [handshake, outcome] of [
    [{ auth: { token } }, 'connected'],
    [{ headers: bearer(token) }, 'connected'],
    [{ auth: { token: '' }, headers: bearer(token) }, 'connected'],
    [{ auth: { token: null }, headers: bearer(token) }, 'connected'],
    [{ auth: { token }, headers: bearer(wrong) }, 'connected'],
    [{ auth: { token: wrong }, headers: bearer(token) }, 'unauthorized'],
    [{ auth: { token: [token] }, headers: bearer(token) }, 'unauthorized'],
    [{ auth: { token: { toString: token } } }, 'unauthorized']
  ] as const) t.equal(await shake(t, app, handshake), outcome, JSON.stringify(handshake))
})

t.test('other clients are refused', async (t) => {
  const { body: { raw_token: unbound } } = await alice.post('/api/client-tokens', { name: 'x', scopes: ['devices.read'] })
  const lacking = await pairDevice(app, alice, ['me.read'])
  const [expired, good] = [await pairDevice(app, alice), await pairDevice(app, alice)]
  await app.pg.query("update client_tokens set expires_at = now() - interval '1 second' where id = $1", [expired.token_id])
  for (const [why, auth] of Object.entries({
    'no token': {},
    'no token of ours': { token: good.token.replace('svc_', 'abc_') },
    'an unknown one': { token: `svc_${'f'.repeat(64)}` },
    'one that is bound to no device': { token: unbound },
    'one without the scope': { token: lacking.token },
    'one that ran out': { token: expired.token },
    'what else is in the payload': { user_id: 1, device_id: good.device_id }
  })) t.equal(await shake(t, app, { auth }), 'unauthorized', why)
  const login = await app.inject({ method: 'POST', url: '/api/login', headers: await test.createUser('browser') })
  const cookie = login.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  t.equal(await shake(t, app, { headers: { cookie } }), 'unauthorized', 'a browser')
})

t.test('a device is refused when its owner is', async (t) => {
  const carol = createCaller(app, await test.createUser('carol'))
  const { token } = await pairDevice(app, carol)
  const id = await idOf('carol')
  t.equal(await shake(t, app, { auth: { token } }), 'connected')
  const { rows } = await app.pg.query<Record<string, unknown>>(
    "delete from permission_grants where entity = 'devices' and action = 'read' returning group_id, own_only")
  // The owner of a token may be cached for a moment.
  await until(async () => await shake(t, app, { auth: { token } }) === 'unauthorized', 'it is refused without the scope')
  for (const { group_id: group, own_only: own } of rows) {
    await app.pg.query("insert into permission_grants (group_id, entity, action, own_only) values ($1, 'devices', 'read', $2)", [group, own])
  }
  await until(async () => await shake(t, app, { auth: { token } }) === 'connected', 'it is let in again')
  await app.pg.query('update users set enabled = false where id = $1', [id])
  await until(async () => await shake(t, app, { auth: { token } }) === 'unauthorized', 'it is refused while its owner is disabled')
})

t.test('all devices are refused while installing on devices is disabled', async (t) => {
  const off = await buildTestApp(t, { databaseUrl, withoutAdmin: true, env: { DEVICE_INSTALL_ENABLED: 'false' } })
  await off.app.listen({ port: 0, host: '127.0.0.1' })
  const { token } = await pairDevice(app, alice)
  t.equal(await shake(t, off.app, { auth: { token } }), 'disabled')
  t.equal(await shake(t, off.app, {}), 'disabled', 'also who would not be known')
})

t.test('a device is online while it is connected to any worker', async (t) => {
  const [device, silent] = [await pairDevice(app, alice), await pairDevice(app, alice)]
  const sockets = [await connect(t, other, device.token), await connect(t, app, device.token)]
  await until(() => isOnline(alice, device), 'it is online')
  t.equal((await online(alice)).filter((id) => id === device.device_id).length, 1, 'once')
  t.notOk(await isOnline(alice, silent))
  t.same(await online(bob), [], 'nobody else knows')
  sockets[0]?.disconnect()
  await until(async () => (await app.pg.query('select 1 from device_presences')).rowCount === 1, 'one socket is left')
  t.ok(await isOnline(alice, device))
  sockets[1]?.disconnect()
  t.ok(await isGone(alice, device))
})

t.test('connecting updates the last use of the token and of the device', async (t) => {
  const device = await pairDevice(app, alice)
  await app.pg.query('update client_tokens set last_used_at = null where id = $1', [device.token_id])
  await app.pg.query('update devices set last_seen = null where id = $1', [device.id])
  await connect(t, app, device.token)
  t.match((await alice.get(`/api/devices/${device.id}`)).body, { last_seen: /./ })
  const { body: tokens } = await alice.get('/api/client-tokens')
  t.match(tokens.find(({ id }: { id: number }) => id === device.token_id), { last_used_at: /./ })
})

const ENDS: Record<string, (device: PairedDevice, owner: Caller, ownerId: number) => Promise<{ status: number }>> = {
  'the token is revoked': ({ token_id: id }, owner) => owner.delete(`/api/client-tokens/${id}`),
  'the token is revoked by an administrator': ({ token_id: id }) => admin.delete(`/api/client-tokens/${id}/admin`),
  'the token gets a new secret': ({ token_id: id }, owner) => owner.put(`/api/client-tokens/${id}/regenerate`),
  'the device is deleted': async ({ id, token }) =>
    ({ status: (await app.inject({ method: 'DELETE', url: `/api/devices/${id}`, headers: bearer(token) })).statusCode }),
  'the owner is deleted': (_device, _owner, ownerId) => admin.delete(`/api/users/${ownerId}`)
}
for (const [what, end] of Object.entries(ENDS)) {
  t.test(`sockets are closed on every worker once ${what}`, async (t) => {
    const name = what.replaceAll(' ', '-')
    const owner = createCaller(app, await test.createUser(name))
    const device = await pairDevice(app, owner)
    const bystander = await connect(t, other, (await pairDevice(app, alice)).token)
    const sockets = [await connect(t, app, device.token), await connect(t, other, device.token)]
    await until(() => isOnline(owner, device), 'it is online')
    t.match(await end(device, owner, await idOf(name)), { status: /20[04]/ })
    t.ok(await areClosed(sockets))
    await until(async () => (await app.pg.query(
      'select 1 from device_presences where device_id = $1', [device.id])).rowCount === 0, 'it is offline')
    t.ok(bystander.connected)
    t.equal(await shake(t, other, { auth: { token: device.token } }), 'unauthorized')
  })
}

t.test('a token that is revoked during the handshake leaves no open socket', async (t) => {
  const devices: PairedDevice[] = []
  for (let count = 0; count < 8; count++) devices.push(await pairDevice(app, bob))
  const sockets = devices.map((device, number) => {
    const socket = openSocket(t, number % 2 === 0 ? app : other, { auth: { token: device.token } })
    const settled = new Promise<void>((resolve) => {
      for (const event of ['connect', 'connect_error'] as const) socket.once(event, () => { resolve() })
    })
    return { socket, settled }
  })
  await Promise.all(devices.map((device) => bob.delete(`/api/client-tokens/${device.token_id}`)))
  await Promise.all(sockets.map(({ settled }) => settled))
  t.ok(await areClosed(sockets.map(({ socket }) => socket)))
  await until(async () => (await online(bob)).length === 0, 'none is online')
})

async function closesWithin (t: Test, change: (device: PairedDevice) => Promise<unknown>): Promise<void> {
  const device = await pairDevice(app, alice)
  const bystander = await pairDevice(app, alice)
  const [socket, stays] = [await connect(t, app, device.token), await connect(t, app, bystander.token)]
  await until(() => isOnline(alice, device), 'it is online')
  await change(device)
  // The token's former state may be cached for another second.
  await until(() => {
    mock.timers.tick(HALF_MINUTE_MS)
    return !socket.connected
  }, 'the socket is closed')
  t.ok(await isGone(alice, device))
  t.ok(stays.connected)
}

t.test('an expired token closes its sockets within half a minute', (t) => closesWithin(t, ({ token_id: id }) =>
  app.pg.query("update client_tokens set expires_at = now() + interval '1 second' where id = $1", [id])))

const LOSSES: Record<string, (device: PairedDevice, ownerId: number) => Promise<unknown>> = {
  'its token loses the scope': ({ token_id: id }) =>
    app.pg.query("update client_tokens set scopes = '{me.read}' where id = $1", [id]),
  'its owner loses the right': (_device, ownerId) =>
    admin.put(`/api/permissions/users/${ownerId}`, { overrides: [{ entity: 'devices', action: 'read', granted: false }] })
}
for (const [what, lose] of Object.entries(LOSSES)) {
  t.test(`sockets are closed at once on every worker when ${what}`, async (t) => {
    const name = what.replaceAll(' ', '-')
    const owner = createCaller(app, await test.createUser(name))
    const device = await pairDevice(app, owner)
    const bystander = await connect(t, other, (await pairDevice(app, alice)).token)
    const sockets = [await connect(t, app, device.token), await connect(t, other, device.token)]
    await lose(device, await idOf(name))
    t.ok(await areClosed(sockets))
    t.ok(bystander.connected)
  })
}

async function expiryOf ({ id }: PairedDevice): Promise<number> {
  const { rows: [row] } = await app.pg.query<{ seconds: number }>(
    'select extract(epoch from expires_at - now())::float as seconds from device_presences where device_id = $1', [id])
  return row?.seconds ?? 0
}

t.test('a connected device stays online, and one of a dead process expires', async (t) => {
  const [device, lost] = [await pairDevice(app, alice), await pairDevice(app, alice)]
  await connect(t, app, device.token)
  await until(async () => await expiryOf(device) > 85, 'it counts for 90 seconds')
  await app.pg.query("update device_presences set expires_at = now() + interval '10 seconds'")
  await app.pg.query("insert into device_presences values ('of a dead process', $1, now() - interval '1 second')", [lost.id])
  t.notOk(await isOnline(alice, lost), 'it does not count any more')
  mock.timers.tick(HALF_MINUTE_MS)
  await until(async () => await expiryOf(device) > 85, 'it is refreshed')
  await until(async () => await expiryOf(lost) === 0, 'the row of the dead process is removed')
  await app.pg.query('delete from device_presences')
  mock.timers.tick(HALF_MINUTE_MS)
  await until(() => isOnline(alice, device), 'a row that was lost comes back')
})

t.test('a device receives its events from any worker, and no others', async (t) => {
  const [device, second] = [await pairDevice(app, alice), await pairDevice(app, alice)]
  const sockets = [await connect(t, app, device.token), await connect(t, other, device.token)]
  const heard = [...sockets, await connect(t, app, second.token)].map(listen)
  app.sockets.publish(userRoom(await idOf('alice')), 'test:told', { text: 'to people' })
  app.sockets.publish(null, 'test:told', { text: 'to all' })
  app.devices.publish(device.id, 'test:asked', { number: 1 })
  other.devices.publish(device.id, 'test:asked', { number: 2 })
  other.devices.publish(second.id, 'test:asked', { number: 3 })
  const ask = (number: number) => ({ event: 'test:asked', payload: { number } })
  await until(() => heard[0]?.length === 2 && heard[1]?.length === 2 && heard[2]?.length === 1, 'all has arrived')
  t.same(heard[2], [ask(3)])
  for (const one of heard.slice(0, 2)) t.same(new Set(one.map(({ payload }) => payload.number)), new Set([1, 2]))
})

t.test('a device that floods the server is disconnected', async (t) => {
  const { token } = await pairDevice(app, alice)
  const socket = await connect(t, app, token)
  for (let count = 0; count < 300; count++) socket.emit('install:queued', { id: count })
  t.ok(await areClosed([socket]))
})

t.test('a device reconnects after a failure of its identification', async (t) => {
  const { token } = await pairDevice(app, alice)
  await app.pg.query('alter table client_tokens rename to client_tokens_elsewhere')
  t.teardown(() => app.pg.query('alter table if exists client_tokens_elsewhere rename to client_tokens'))
  const socket = openSocket(t, app, { auth: { token }, reconnects: true })
  const refusals: string[] = []
  socket.on('connect_error', (err) => { refusals.push(err.message) })
  await new Promise((resolve) => { socket.io.once('close', resolve) })
  await app.pg.query('alter table client_tokens_elsewhere rename to client_tokens')
  await until(() => socket.connected, 'it is connected')
  t.notOk(refusals.includes('unavailable'))
})

t.test('a worker that ends closes only its own sockets', async (t) => {
  const third = await buildWorker(test, 3)
  await third.ready()
  await third.listen({ port: 0, host: '127.0.0.1' })
  await untilConnected(test, 3)
  const device = await pairDevice(app, alice)
  const [stays, goes] = [await connect(t, app, device.token), await connect(t, third, device.token)]
  const returning = ['websocket', 'polling'].flatMap((transport) => ['/', '/devices'].map((namespace) =>
    openSocket(t, third, { auth: { token: device.token }, namespace, transport, reconnects: true })))
  await until(() => returning.every((socket) => socket.connected), 'all are connected')
  const heard = listen(stays)
  await third.close()
  t.ok(await areClosed([goes]))
  // A request to close the other sockets would have arrived before this event.
  other.devices.publish(device.id, 'test:asked', { number: 1 })
  await until(() => heard.length === 1, 'it still hears')
  t.ok(stays.connected)
  await until(async () => (await app.pg.query(
    'select 1 from device_presences where device_id = $1', [device.id])).rowCount === 1, 'one presence is left')

  const again = await buildWorker(test, 3)
  t.teardown(() => again.close())
  await again.ready()
  await again.listen({ port: 0, host: '127.0.0.1' })
  // Another process may have taken the former port.
  const url = `http://127.0.0.1:${(again.server.address() as AddressInfo).port}`
  for (const { io } of returning) Reflect.set(io, 'uri', url)
  await until(() => returning.every((socket) => socket.connected), 'who was not told to leave comes back')
})
