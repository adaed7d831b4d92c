import fc from 'fast-check'
import t, { type Test } from 'tap'
import { maskSyncConfig, sealSyncConfig } from '../../../plugins/devices/sync-config.ts'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { pairDevice } from './support.ts'
import { addRom } from '../roms/support.ts'
import { bearer, createCaller } from '../tokens/support.ts'

const test = await buildTestApp(t)
const { app } = test
const signedIn = await test.createUser('alice')
const alice = createCaller(app, signedIn)
const bob = createCaller(app, await test.createUser('bob'))

t.beforeEach(async () => { await app.pg.query('delete from devices') })

const count = async (table: string) =>
  Number((await app.pg.query<{ count: string }>(`select count(*) from ${table}`)).rows[0]?.count)

/** Registers a device of alice and returns its id. */
async function register (body: object = {}): Promise<number> {
  const reply = await alice.post('/api/devices', body)
  if (reply.status !== 201) throw new Error(`not registered: ${reply.status} ${JSON.stringify(reply.body)}`)
  return reply.body.id
}

/** Creates a client with a new token of alice. */
async function withToken (scopes: string[]) {
  const { body } = await alice.post('/api/client-tokens', { name: 'narrow', scopes })
  return createCaller(app, bearer(body.raw_token))
}

/** Adds a synced save to a device. */
async function giveSyncs (deviceId: number): Promise<void> {
  const rom = await addRom(test, { fs_name: `Game ${deviceId}.sfc` })
  await app.pg.query(`with asset as (
      insert into assets (kind, user_id, rom_id, platform_fs_slug, rom_fs_name, file_name, sha1, disk_path)
      select 'save', user_id, $2, 'snes', 'Game.sfc', 'a.srm', 'x', 'a.srm' from devices where id = $1 returning id
    ) insert into device_syncs (device_id, asset_id, last_synced_at) select $1, id, now() from asset`, [deviceId, rom])
  await app.pg.query("insert into sync_bases (device_id, rom_id, kind, key, sha1) values ($1, $2, 'save', 'a.srm', 'x')",
    [deviceId, rom])
}

t.test('a device registers in the short form and gets both of its ids', async (t) => {
  const { status, body } = await alice.post('/api/devices', {
    name: 'Handheld', platform: 'linux', hostname: 'deck', mac: 'AA:BB:CC:DD:EE:FF', sync_mode: 'pull_only',
    paths: { roms: '/roms', saves: '/saves', states: '/states' }
  })
  t.equal(status, 201)
  t.match(body, {
    id: Number, device_id: /^[0-9a-f-]{36}$/, name: 'Handheld', platform: 'linux', hostname: 'deck',
    mac: 'AA:BB:CC:DD:EE:FF', mac_address: 'AA:BB:CC:DD:EE:FF', sync_mode: 'pull_only', sync_enabled: true,
    paths: { roms: '/roms', saves: '/saves', states: '/states' }, created_at: /\+00:00$/, last_seen: /\+00:00$/
  })
  for (const id of [body.id, body.device_id, body.device_id.toUpperCase()]) {
    t.same((await alice.get(`/api/devices/${id}`)).body, { ...body, id: body.device_id, number: body.id })
  }
})

t.test('an app that sends its client gets only the id that lists use', async (t) => {
  const { status, body } = await alice.post('/api/devices', { name: 'App', client: 'app', allow_duplicate: true })
  t.equal(status, 201)
  t.notOk('id' in body)
  t.match((await alice.get(`/api/devices/${body.device_id}`)).body, { id: body.device_id, number: Number })
})

t.test('a device registers in the long form', async (t) => {
  const sent = {
    name: 'Desktop', platform: 'windows', client: 'app', client_version: '1.2.3', ip_address: '192.0.2.7',
    mac_address: 'aa-bb-cc-dd-ee-ff', hostname: 'desk', sync_mode: 'api', sync_config: { folder: '/x' },
    capabilities: { remote_install: true }
  }
  t.match(await alice.post('/api/devices', sent), { status: 201, body: { ...sent, mac: 'aa-bb-cc-dd-ee-ff' } })
})

t.test('all fields are optional, and null counts as not sent', async (t) => {
  const nothing = { name: null, mac: null, mac_address: null, sync_mode: 'push_pull', sync_config: null, paths: null }
  t.match(await alice.post('/api/devices', {}), { status: 201, body: nothing })
  t.match(await alice.post('/api/devices', { ...nothing, sync_mode: null, capabilities: null }), { status: 201, body: nothing })
})

t.test('a known device is returned instead of a new one, in any notation of its address', async (t) => {
  const id = await register({ name: 'First', mac: 'AA:BB:CC:DD:EE:FF' })
  await app.pg.query('update devices set last_seen = null')
  for (const same of [{ mac_address: 'aa:bb:cc:dd:ee:ff' }, { mac: 'aa-bb-cc-dd-ee-ff' }, { mac: 'aabbccddeeff' }]) {
    const { status, body } = await alice.post('/api/devices', { ...same, name: 'Other name', sync_mode: 'api' })
    t.match({ status, body }, { status: 200, body: { id, name: 'First', sync_mode: 'push_pull', last_seen: /./ } })
  }
  t.equal(await count('devices'), 1)
})

t.test('host name and platform identify a device together, after the hardware address', async (t) => {
  const first = await register({ hostname: 'deck', platform: 'linux' })
  const second = await register({ hostname: 'deck', platform: 'windows', mac: '00:11:22:33:44:55' })
  t.match(await alice.post('/api/devices', { hostname: 'deck', platform: 'linux' }), { status: 200, body: { id: first } })
  t.match(await alice.post('/api/devices', { hostname: 'deck', platform: 'linux', mac: '00:11:22:33:44:55' }),
    { status: 200, body: { id: second } })
  for (const other of [{ hostname: 'deck' }, { platform: 'linux' }, { name: 'x' }, { hostname: '', platform: '' }]) {
    await register(other)
    await register(other)
  }
})

t.test('the identifier of an app identifies its device before anything else', async (t) => {
  const register = async (body: object) => await alice.post('/api/devices', { client: 'app', ...body })
  const first = await register({ client_device_identifier: 'installation-1', hostname: 'one', platform: 'linux' })
  t.match(first, { status: 201, body: { client_device_identifier: 'installation-1' } })
  const second = await register({ hostname: 'two', platform: 'linux' })
  t.match(await register({ client_device_identifier: 'installation-1', hostname: 'two', platform: 'linux' }),
    { status: 200, body: { device_id: first.body.device_id, hostname: 'one' } })
  t.match(await register({ client_device_identifier: 'installation-2', hostname: 'two', platform: 'linux' }),
    { status: 200, body: { device_id: second.body.device_id, client_device_identifier: 'installation-2' } }, 'it learns the identifier')
  t.match(await register({ client_device_identifier: 'installation-1', allow_duplicate: true }),
    { status: 201, body: { client_device_identifier: null } }, 'a duplicate does not take it')
  t.match(await bob.post('/api/devices', { client: 'app', client_device_identifier: 'installation-1' }), { status: 201 })
  for (const wrong of ['', 'x'.repeat(256), 'a\0', 7]) {
    t.equal((await register({ client_device_identifier: wrong })).status, 422, String(wrong).slice(0, 5))
  }
})

t.test('a device of another user is never recognized', async (t) => {
  const id = await register({ mac: 'AA:BB:CC:DD:EE:FF' })
  const { status, body } = await bob.post('/api/devices', { mac: 'AA:BB:CC:DD:EE:FF' })
  t.equal(status, 201)
  t.not(body.id, id)
})

t.test('a known device is refused or duplicated on request', async (t) => {
  await register({ mac: 'AA:BB:CC:DD:EE:FF' })
  const { body: known } = await alice.post('/api/devices', { mac: 'AA:BB:CC:DD:EE:FF' })
  t.match(await alice.post('/api/devices', { mac: 'AA:BB:CC:DD:EE:FF', allow_existing: false }), {
    status: 409, body: { detail: { error: 'device_exists', message: /allow_duplicate/, device_id: known.device_id } }
  })
  t.match(await alice.post('/api/devices', { mac: 'AA:BB:CC:DD:EE:FF', allow_existing: false, allow_duplicate: true }),
    { status: 201 })
  t.equal(await count('devices'), 2)
})

t.test('a known device keeps its capabilities unless it sends new ones', async (t) => {
  const mac = 'AA:BB:CC:DD:EE:FF'
  await register({ mac, capabilities: { remote_install: true } })
  t.match((await alice.post('/api/devices', { mac })).body, { capabilities: { remote_install: true } })
  t.strictSame((await alice.post('/api/devices', { mac, capabilities: { touch: false } })).body.capabilities, { touch: false })
})

t.test('reset_syncs deletes the sync state of a known device', async (t) => {
  const mac = 'AA:BB:CC:DD:EE:FF'
  const id = await register({ mac })
  const other = await register({ name: 'other' })
  for (const device of [id, other]) await giveSyncs(device)
  await alice.post('/api/devices', { mac })
  t.same([await count('device_syncs'), await count('sync_bases')], [2, 2])
  await alice.post('/api/devices', { mac, reset_syncs: true })
  t.same([await count('device_syncs'), await count('sync_bases')], [1, 1])
})

t.test('twenty concurrent registrations of one device create one device', async (t) => {
  const replies = await Promise.all(Array.from({ length: 20 }, () => alice.post('/api/devices', { mac: 'AA:BB:CC:DD:EE:FF' })))
  t.equal(replies.filter(({ status }) => status === 201).length, 1)
  t.equal(replies.filter(({ status }) => status === 200).length, 19)
  t.equal(await count('devices'), 1)
})

t.test('an invalid field is refused by name', async (t) => {
  const tooMany = Object.fromEntries(Array.from({ length: 33 }, (_, number) => [`c${number}`, true]))
  for (const [key, value] of Object.entries({
    sync_mode: 'sometimes', mac: 'AA:BB', mac_address: 'not an address', name: 'x'.repeat(256), platform: 'x'.repeat(51),
    capabilities: tooMany, paths: { roms: 7 }, hostname: 'a\0b', sync_config: { folder: 'x'.repeat(16_384) }
  })) {
    const { status, body } = await alice.post('/api/devices', { [key]: value })
    t.equal(status, 422, key)
    for (const { loc } of body.detail) t.same(loc.slice(0, 2), ['body', key], key)
    t.ok(body.detail.length > 0, key)
  }
  for (const capabilities of [{ '': true }, { ['x'.repeat(65)]: true }, { a: 1 }]) {
    t.match(await alice.post('/api/devices', { capabilities }), { status: 422 })
  }
  for (const paths of [{ '': '/x' }, { ['x'.repeat(65)]: '/x' }]) {
    t.match(await alice.post('/api/devices', { paths }), { status: 422 })
  }
  const id = await register({ sync_config: { folder: 'x'.repeat(16_000) } })
  t.match(await alice.put(`/api/devices/${id}`, { sync_config: { folder: 'x'.repeat(16_384) } }), { status: 422 })
})

t.test('a user has at most 200 devices and can still sign in and use the known ones', async (t) => {
  const mac = 'AA:BB:CC:DD:EE:FF'
  const known = await register({ mac })
  const paired = await pairDevice(app, alice)
  const logIn = async (address: string) => (await app.inject({
    method: 'POST', url: '/api/login', headers: signedIn, remoteAddress: address
  })).statusCode
  await app.pg.query(`insert into devices (user_id, name)
    select id, 'more' from users, generate_series(1, 198) where username = 'alice'`)
  const refused = { status: 400, body: { detail: 'You have 200 devices already; delete some first' } }
  for (const body of [{}, { mac, allow_duplicate: true }]) t.match(await alice.post('/api/devices', body), refused)
  t.match(await alice.post('/api/devices', { mac }), { status: 200, body: { id: known } })
  t.match(await bob.post('/api/devices', { mac }), { status: 201 })
  const { rows: [installation] } = await app.pg.query<{ client_device_identifier: string }>(
    'select client_device_identifier from devices where id = $1', [paired.id])
  for (const [identifier, status] of [['another', 400], [installation?.client_device_identifier, 200]] as const) {
    const { body: { user_code: code } } = await createCaller(app).post('/api/auth/device/init', {
      client_device_identifier: identifier, name: 'x', client: 'test', requested_scopes: ['devices.read']
    })
    t.match(await alice.post('/api/auth/device/approve', { user_code: code, approved_scopes: ['devices.read'] }), { status })
  }
  t.equal(await logIn('192.0.2.1'), 200, 'without a device')
  await app.pg.query("delete from devices where id = (select max(id) from devices where name = 'more')")
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.2']) t.equal(await logIn(address), 200)
  const { rows: browsers } = await app.pg.query("select ip_address from devices where client = 'web'")
  t.same(browsers, [{ ip_address: '192.0.2.2' }], 'in place of the browser that was away for longest')
  t.equal((await alice.get('/api/devices')).body.length, 200)
})

t.test('deeply nested settings and invalid settings are refused', async (t) => {
  const send = async (key: string, levels: number) => (await app.inject({
    method: 'POST',
    url: '/api/devices',
    headers: { ...signedIn, 'content-type': 'application/json' },
    payload: `{"${key}":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`
  })).statusCode
  t.same([await send('sync_config', 31), await send('sync_config', 32), await send('sync_config', 100_000)], [201, 422, 422])
  t.equal(await send('else', 100_000), 422)
})

t.test('texts that the database cannot store are replaced', async (t) => {
  const odd = 'a\ud800b'
  const { status, body } = await alice.post('/api/devices', {
    name: odd, sync_config: { [odd]: ['x', { deep: odd }] }, paths: { [odd]: odd }, capabilities: { [odd]: true }
  })
  t.equal(status, 201)
  t.match(body, { name: 'a\ufffdb', sync_config: { 'a\ufffdb': ['x', { deep: 'a\ufffdb' }] } })
  t.equal((await alice.post('/api/devices', { paths: { roms: 'x\0' } })).status, 422)
})

t.test('only what is sent changes, and null clears', async (t) => {
  const id = await register({ name: 'Old', hostname: 'host', mac: 'AA:BB:CC:DD:EE:FF', sync_mode: 'api', paths: { roms: '/r' } })
  t.match(await alice.put(`/api/devices/${id}`, { name: 'New', mac: '00:11:22:33:44:55' }), {
    status: 200, body: { name: 'New', hostname: 'host', mac_address: '00:11:22:33:44:55', sync_mode: 'api', paths: { roms: '/r' } }
  })
  t.match((await alice.put(`/api/devices/${id}`, { hostname: null, mac_address: null, sync_mode: null, paths: null, sync_enabled: false })).body,
    { name: 'New', hostname: null, mac: null, sync_mode: 'push_pull', paths: null, sync_enabled: false })
  t.match((await alice.put(`/api/devices/${id}`, { sync_enabled: null })).body, { sync_enabled: true })
  t.match((await alice.get('/api/devices')).body, [{ number: id, name: 'New' }])
})

t.test('a client cannot set owners and times', async (t) => {
  const id = await register({ name: 'Mine' })
  const before = (await alice.get(`/api/devices/${id}`)).body
  const { body } = await alice.put(`/api/devices/${id}`, {
    user_id: 1, id: 7, device_id: 'x', last_seen: null, created_at: '2020-01-01T00:00:00Z', client_device_identifier: 'x'
  })
  t.same({ ...body, updated_at: before.updated_at }, before)
})

t.test('V17: secrets of a device are masked, kept if the mask is sent, and stored sealed', async (t) => {
  const masked = { ssh_password: '********', ssh_key_path: '********', ssh_host: 'example.org' }
  const id = await register({ sync_config: { ssh_password: 'hunter2', ssh_key_path: '/home/me/.ssh/id', ssh_host: 'example.org' } })
  const stored = async () => (await app.pg.query<{ sync_config: Record<string, string> }>(
    'select sync_config from devices where id = $1', [id])).rows[0]?.sync_config ?? {}
  const first = await stored()
  t.notMatch(JSON.stringify(first), /hunter2|\.ssh/)
  t.equal(app.secrets.open('device-sync', first.ssh_password ?? ''), 'hunter2')
  for (const read of [await alice.get(`/api/devices/${id}`), await alice.put(`/api/devices/${id}`, { sync_config: masked })]) {
    t.same(read.body.sync_config, masked)
  }
  t.same((await alice.get('/api/devices')).body[0].sync_config, masked)
  t.same(await stored(), first, 'the mask changed nothing')

  await alice.put(`/api/devices/${id}`, { sync_config: { ...masked, ssh_password: 'new', ssh_host: 'other.example.org' } })
  const second = await stored()
  t.equal(app.secrets.open('device-sync', second.ssh_password ?? ''), 'new')
  t.equal(second.ssh_key_path, null, 'a secret is not sent to another host')
  t.equal(second.ssh_host, 'other.example.org')
  t.same((await alice.put(`/api/devices/${id}`, { sync_config: { ssh_password: null } })).body.sync_config, { ssh_password: null })
  t.same((await alice.put(`/api/devices/${id}`, { sync_config: { ssh_password: '********' } })).body.sync_config,
    { ssh_password: null }, 'a mask of nothing is nothing')
})

t.test('a returned mask keeps any secret, and no secret is ever shown', async (t) => {
  const text = fc.oneof(fc.string(), fc.constant('********'), fc.constant(''), fc.constant(null))
  const config = fc.dictionary(fc.constantFrom('ssh_password', 'ssh_key_path', 'ssh_host', 'port'), text)
  fc.assert(fc.property(config, config, (first, second) => {
    const stored = sealSyncConfig(app.secrets, first, null)
    t.same(sealSyncConfig(app.secrets, maskSyncConfig(stored) ?? {}, stored), stored)
    const shown = maskSyncConfig(sealSyncConfig(app.secrets, second, stored)) ?? {}
    for (const key of ['ssh_password', 'ssh_key_path']) t.ok([undefined, null, '', '********'].includes(shown[key] as string))
    for (const key of ['ssh_host', 'port']) t.equal(shown[key], second[key])
  }), { numRuns: 50 })
})

t.test('secrets are dropped when host, port or user changes', async (t) => {
  const secrets = { ssh_password: '********', ssh_private_key: '********', ssh_passphrase: '********', ssh_key_path: '********' }
  const dropped = { ssh_password: null, ssh_private_key: null, ssh_passphrase: null, ssh_key_path: null }
  const given = { ssh_host: 'example.org', ssh_password: 'a', ssh_private_key: 'b', ssh_passphrase: 'c', ssh_key_path: 'd' }
  const moves: [object, object][] = [
    [{ ssh_host: 'evil.example' }, dropped],
    [{ ssh_port: 2222 }, dropped],
    [{ ssh_username: 'other' }, dropped],
    [{ ssh_host: null }, dropped],
    [{ ssh_host: ' example.org ', ssh_port: '22', ssh_username: 'root' }, secrets],
    [{ save_directories: [{ platform_slug: 'snes', path: '/saves' }] }, secrets]
  ]
  for (const [change, shown] of moves) {
    const id = await register({ sync_config: given })
    const sent = { ssh_host: 'example.org', ...secrets, ...change }
    t.match((await alice.put(`/api/devices/${id}`, { sync_config: sent })).body.sync_config, shown, JSON.stringify(change))
  }
})

t.test('changing how the server syncs a device needs the scopes for saves', async (t) => {
  const narrow = await withToken(['devices.read', 'devices.write'])
  const wide = await withToken(['devices.read', 'devices.write', 'assets.read', 'assets.write'])
  const config = {
    ssh_host: 'example.org', ssh_host_key: 'SHA256:x', ssh_password: 'hunter2', save_directories: [{ platform_slug: 'snes', path: '/saves' }], note: 'a'
  }
  const masked = { ...config, ssh_password: '********' }
  const id = await register({ sync_config: config })
  const api = await register({ sync_mode: 'api' })
  const paused = await register()
  await alice.put(`/api/devices/${paused}`, { sync_enabled: false })
  const changes: [number, object][] = [
    [id, { sync_config: { ...masked, ssh_host: 'evil.example' } }],
    [id, { sync_config: { ...masked, ssh_port: 2222 } }],
    [id, { sync_config: { ...masked, ssh_password: 'x' } }],
    [id, { sync_config: { ...masked, ssh_username: 'x' } }],
    [id, { sync_config: { ...masked, ssh_host_key: null } }],
    [id, { sync_config: { ...masked, save_directories: [] } }],
    [id, { sync_config: { note: 'b' } }],
    [id, { sync_config: null }],
    [id, { sync_mode: 'file_transfer' }],
    [api, { sync_mode: 'push_pull' }],
    [api, { sync_mode: null }],
    [paused, { sync_enabled: true }],
    [paused, { sync_enabled: null, sync_mode: 'file_transfer' }]
  ]
  for (const [device, change] of changes) {
    const before = await alice.get(`/api/devices/${device}`)
    const refused = await narrow.put(`/api/devices/${device}`, change)
    t.match(refused, { status: 403, body: { detail: /assets\.read and assets\.write/ } }, JSON.stringify(change))
    t.same((await alice.get(`/api/devices/${device}`)).body, before.body)
    t.equal((await wide.put(`/api/devices/${device}`, change)).status, 200)
    await alice.put(`/api/devices/${id}`, { sync_mode: 'push_pull', sync_config: config })
    await alice.put(`/api/devices/${api}`, { sync_mode: 'api' })
    await alice.put(`/api/devices/${paused}`, { sync_mode: 'push_pull', sync_enabled: false })
  }
  t.equal((await narrow.put(`/api/devices/${id}`, { name: 'New', sync_mode: 'api', sync_config: { ...masked, note: 'b' } })).status, 200)
  for (const body of [{ sync_config: { ssh_host: 'evil.example' } }, { sync_mode: 'file_transfer' }]) {
    t.equal((await narrow.post('/api/devices', body)).status, 403)
    t.equal((await wide.post('/api/devices', body)).status, 201)
  }
  t.equal((await narrow.post('/api/devices', { sync_mode: 'push_pull', sync_config: { note: 'a' } })).status, 201)
})

t.test('a device of another user is not found', async (t) => {
  const id = await register({ name: 'Mine' })
  const { body: { device_id: uuid } } = await alice.get(`/api/devices/${id}`)
  for (const reference of [id, uuid, '999999999', '9'.repeat(30), crypto.randomUUID(), '0', '-1', 'x']) {
    const reply = await bob.get(`/api/devices/${reference}`)
    t.match(reply, { status: 404, body: { detail: `Device with ID '${reference}' not found` } })
    t.match(await bob.put(`/api/devices/${reference}`, { name: 'His' }), { status: 404 })
    t.match(await bob.delete(`/api/devices/${reference}`), { status: 404 })
  }
  t.same((await bob.get('/api/devices')).body, [])
  t.match((await alice.get(`/api/devices/${id}`)).body, { name: 'Mine' })
})

t.test('deleting a device deletes its rows and unbinds its token', async (t) => {
  const device = await pairDevice(app, alice)
  await giveSyncs(device.id)
  await app.pg.query('insert into sync_sessions (user_id, device_id) select user_id, id from devices where id = $1', [device.id])
  const reply = await app.inject({ method: 'DELETE', url: `/api/devices/${device.device_id}`, headers: { authorization: `Bearer ${device.token}` } })
  t.equal(reply.statusCode, 204)
  t.equal(reply.body, '')
  t.same([await count('device_syncs'), await count('sync_bases'), await count('sync_sessions')], [0, 0, 0])
  t.match((await alice.get('/api/client-tokens')).body[0], { id: device.token_id, device_id: null, device_number: null })
  const { rows } = await app.pg.query("select username, details from audit_events where event = 'device.deleted'")
  t.match(rows, [{ username: 'alice', details: { device_id: device.device_id, device_name: /^installation/ } }])
})

t.test('the token that registers a device is bound to it and stays bound', async (t) => {
  const { body: token } = await alice.post('/api/client-tokens', { name: 'App', scopes: ['devices.read', 'devices.write'] })
  const headers = { authorization: `Bearer ${token.raw_token}` }
  const registerBy = async (body: object) => (await app.inject({
    method: 'POST', url: '/api/devices', headers, payload: body
  })).json<{ id: number }>().id
  const first = await registerBy({ name: 'First', hostname: 'one', platform: 'linux' })
  t.match((await alice.get('/api/client-tokens')).body[0], { id: token.id, device_number: first })
  t.not(await registerBy({ name: 'Second' }), first)
  t.match((await alice.get('/api/client-tokens')).body[0], { id: token.id, device_number: first })
  await alice.delete(`/api/client-tokens/${token.id}`)
})

t.test('a known device keeps its token when another token registers it', async (t) => {
  const { body: token } = await alice.post('/api/client-tokens', { name: 'App', scopes: ['devices.read', 'devices.write'] })
  const headers = { authorization: `Bearer ${token.raw_token}` }
  const device = await pairDevice(app, alice)
  await alice.put(`/api/devices/${device.id}`, { mac: 'AA:BB:CC:DD:EE:FF' })
  const boundTo = async () => (await app.pg.query<{ device_id: number | null }>(
    'select device_id from client_tokens where id = $1', [token.id])).rows[0]?.device_id
  const meet = async () => (await app.inject({
    method: 'POST', url: '/api/devices', headers, payload: { mac: 'AA:BB:CC:DD:EE:FF' }
  })).json<{ id: number }>().id
  t.equal(await meet(), device.id)
  t.equal(await boundTo(), null)
  await app.pg.query("update client_tokens set expires_at = now() - interval '1 second' where id = $1", [device.token_id])
  t.equal(await meet(), device.id)
  t.equal(await boundTo(), device.id, 'whose token ran out needs a new one')
  for (const id of [token.id, device.token_id]) await alice.delete(`/api/client-tokens/${id}`)
})

t.test('deleting a device needs the grant to delete', async (t) => {
  const id = await register()
  const revoked = await app.pg.query("delete from permission_grants where entity = 'devices' and action = 'delete' returning *")
  t.match(await alice.delete(`/api/devices/${id}`), { status: 403 })
  for (const row of revoked.rows as Record<string, unknown>[]) {
    await app.pg.query('insert into permission_grants (group_id, entity, action, own_only) values ($1, $2, $3, $4)',
      [row.group_id, row.entity, row.action, row.own_only])
  }
})

async function seenAt (id: number): Promise<Date | null> {
  return (await app.pg.query<{ last_seen: Date | null }>('select last_seen from devices where id = $1', [id])).rows[0]?.last_seen ?? null
}

t.test('any call of a device updates its last use, at most every five minutes', async (t: Test) => {
  const { id, calls } = await pairDevice(app, alice)
  const ago = async (interval: string) => {
    await app.pg.query(`update devices set last_seen = now() - interval '${interval}'`)
    await app.pg.query(`update client_tokens set last_used_at = now() - interval '${interval}'`)
  }
  await ago('4 minutes')
  const before = await seenAt(id)
  await calls.get('/api/users/me')
  t.same(await seenAt(id), before)
  await ago('6 minutes')
  await until(async () => {
    await calls.get('/api/users/me')
    return (await seenAt(id) ?? 0) > (before ?? 0)
  }, 'the device is seen')
})
