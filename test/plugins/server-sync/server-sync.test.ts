import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { userRoom } from '../../../core/sockets/sockets.ts'
import { Device as DeviceEntity } from '../../../plugins/devices/entities.ts'
import { connectSsh } from '../../../plugins/server-sync/ssh/connect.ts'
import { readSshSettings } from '../../../plugins/server-sync/ssh/settings.ts'
import { findKnownKeys } from '../../../plugins/server-sync/ssh/known-hosts.ts'
import { type TestApp, shareTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { type AssetItem, createClient } from '../assets/support.ts'
import { signIn } from '../auth/support.ts'
import { addRom } from '../roms/support.ts'
import { type DeviceHost, startDeviceHost } from './sftp-server.ts'

// The folder is watched for the whole life of the server.
const base = await mkdtemp(join(tmpdir(), 'svc-sync-'))
t.teardown(() => rm(base, { recursive: true, force: true }))
const fresh = shareTestApp(t, {
  worker: true, env: { SYNC_BASE_PATH: base, ENABLE_SYNC_FOLDER_WATCHER: 'true', SYNC_FOLDER_SCAN_DELAY: '0.005' }
})

interface Session {
  id: number
  session_id: string
  status: string
  operations_planned: number
  operations_completed: number
  operations_failed: number
  error_message: string | null
}
interface Device { id: string, device_id: string, sync_config: Record<string, unknown> | null }
const DIRECTORY = { platform_slug: 'snes', path: '/saves/snes', extension: 'srm' }

async function start (t: Test) {
  const test = await fresh(t)
  const client = createClient(test, test.admin)
  const rom = await addRom(test, { fs_name: 'Game.sfc', platform: 'snes' })
  return { test, client, rom, ...createOwner(test, test.admin) }
}

/** Returns the actions of a device owner. */
function createOwner (test: TestApp, headers: { authorization: string }) {
  const { call } = createClient(test, headers)
  async function register (payload: object): Promise<Device> {
    const reply = await call('POST', '/api/devices', { client: 'test', allow_duplicate: true, ...payload })
    if (reply.statusCode !== 201) throw new Error(reply.body)
    return reply.json()
  }
  const get = async (device: Device): Promise<Device> => (await call('GET', `/api/devices/${device.device_id}`)).json()
  async function ended (id: number): Promise<Session> {
    // A statement costs a tenth of a request, and a sync takes many checks.
    const isOver = async () => (await test.app.pg.query(
      "select from sync_sessions where id = $1 and status in ('COMPLETED', 'FAILED')", [id])).rowCount === 1
    await until(isOver, `the end of session ${id}`)
    return (await call('GET', `/api/sync/sessions/${id}`)).json()
  }
  const ask = (device: Device) => call('POST', `/api/sync/devices/${device.device_id}/push-pull`)
  return {
    register,
    get,
    ask,
    ended,
    configure: (device: Device, config: object | null) => call('PUT', `/api/devices/${device.device_id}`, { sync_config: config }),
    /** Syncs over SSH and waits for the end. */
    async sync (device: Device): Promise<Session> {
      const reply = await ask(device)
      if (reply.statusCode !== 200) throw new Error(reply.body)
      return await ended(reply.json<Session>().id)
    },
    /** Registers a device that the server reaches over SSH. */
    reach: (host: DeviceHost, config: object = {}) => register({
      sync_mode: 'push_pull',
      sync_config: {
        ssh_host: host.host, ssh_port: host.port, ssh_username: 'deck', ssh_password: 'let me in', save_directories: [DIRECTORY], ...config
      }
    })
  }
}

type Heard = Record<string, unknown>

/** Collects the sync events of an open page of the administrator. */
async function listen (t: Pick<Test, 'teardown'>, { app }: TestApp) {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
  const { cookie } = await signIn(app, 'admin')
  const socket = io(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, {
    path: '/ws/socket.io', transports: ['websocket'], forceNew: true, extraHeaders: { cookie }
  })
  t.teardown(() => { socket.disconnect() })
  const heard: [event: string, payload: Heard][] = []
  socket.onAny((event: string, payload: Heard) => { heard.push([event, payload]) })
  await once(socket as never, 'connect')
  const { rows: [user] } = await app.pg.query<{ id: number }>("select id from users where username = 'admin'")
  const room = userRoom(user?.id ?? 0)
  await until(() => app.sockets.main.sockets.adapter.rooms.get(room)?.has(socket.id ?? '') === true, 'the socket is bound')
  return {
    /** Returns the first event of this name that no test consumed yet. */
    next: (name: string): Promise<Heard> => until(() => {
      const index = heard.findIndex(([event]) => event === name)
      return index !== -1 && (heard.splice(index, 1)[0]?.[1] ?? false)
    }, name)
  }
}

const counts = (
  { status, operations_planned: planned, operations_completed: completed, operations_failed: failed }: Session
) =>
  `${status} ${planned}/${completed}/${failed}`

async function contentOf ({ app, admin }: TestApp, id: number): Promise<string> {
  return (await app.inject({ url: `/api/saves/${id}/content`, headers: admin })).body
}

/** Returns the newest save of a ROM in a slot. */
async function newest ({ app, admin }: TestApp, rom: number, slot = 'main'): Promise<AssetItem> {
  const [save] = (await app.inject({ url: `/api/saves?rom_id=${rom}&slot=${slot}`, headers: admin })).json<AssetItem[]>()
  if (save === undefined) throw new Error('there is no save')
  return save
}

t.test('a sync over SSH gives the same result as a negotiation', async (t) => {
  const { test, client, rom, reach, sync } = await start(t)
  const host = await startDeviceHost(t)
  const device = await reach(host)
  await client.save({ rom_id: rom, slot: 'main' }, 'Game.srm', 'one')
  host.put('/saves/snes/unknown.srm', 'nobody knows it')
  host.put('/saves/snes/Game.txt', 'another kind')
  t.equal(counts(await sync(device)), 'COMPLETED 1/1/0', 'it is given what it does not have; what is no save is left alone')
  t.same([host.text('/saves/snes/Game.srm'), host.names('/saves/snes')], ['one', ['Game.srm', 'Game.txt', 'unknown.srm']])

  t.equal(counts(await sync(device)), 'COMPLETED 2/1/0', 'both are the same')
  host.put('/saves/snes/Game.srm', 'two')
  t.equal(counts(await sync(device)), 'COMPLETED 2/1/0')
  t.equal(await contentOf(test, (await newest(test, rom)).id), 'two', 'what the device changed is taken')

  await client.save({ rom_id: rom, slot: 'main' }, 'Game.srm', 'three')
  t.equal(counts(await sync(device)), 'COMPLETED 2/1/0')
  t.equal(host.text('/saves/snes/Game.srm'), 'three', 'what the server has since is given')
  t.same(host.names('/saves/snes'), ['Game.srm', 'Game.txt', 'unknown.srm'], 'nothing is left lying about')

  host.files.delete('/saves/snes/Game.srm')
  t.equal(counts(await sync(device)), 'COMPLETED 1/0/0')
  t.notOk(host.text('/saves/snes/Game.srm'), 'what was removed on the device on purpose does not come back')
  const { rows } = await test.app.pg.query('select sha1 from assets union select sha1 from asset_versions')
  t.equal(rows.length, 3, 'every content is there still')
})

t.test('a file that both sides changed is reported and kept, unless a resolution is set', async (t) => {
  const { test, client, rom, reach, sync, configure, get } = await start(t)
  const host = await startDeviceHost(t)
  const device = await reach(host)
  const events = await listen(t, test)
  await client.save({ rom_id: rom, slot: 'main' }, 'Game.srm', 'one')
  host.put('/saves/snes/Game.srm', 'one')
  await sync(device)
  t.match(await events.next('sync:completed'), { operations_completed: 1, operations_failed: 0 })
  const change = async (mine: string, theirs: string) => {
    host.put('/saves/snes/Game.srm', mine)
    await client.save({ rom_id: rom, slot: 'main' }, 'Game.srm', theirs)
  }
  await change('device 1', 'server 1')
  t.equal(counts(await sync(device)), 'COMPLETED 1/0/1', 'it waits for a person')
  t.same([host.text('/saves/snes/Game.srm'), await contentOf(test, (await newest(test, rom)).id)], ['device 1', 'server 1'])
  t.match(await events.next('sync:conflict'), { file_name: 'Game.srm', rom_id: rom, rom_name: 'Game', device_id: device.device_id })
  t.match(await events.next('sync:completed'), { operations_completed: 0, operations_failed: 1 })

  const { sync_config: config } = await get(device)
  await configure(device, { ...config, conflict_resolution: 'server_wins' })
  t.equal(counts(await sync(device)), 'COMPLETED 1/1/0')
  t.equal(host.text('/saves/snes/Game.srm'), 'server 1')
  const versions = (await client.call('GET', `/api/saves/${(await newest(test, rom)).id}/versions`)).body
  t.match(JSON.parse(versions), [{ file_size_bytes: 8 }], 'the content of the device is among the versions')

  await change('device 2', 'server 2')
  await configure(device, { ...config, conflict_resolution: 'device_wins' })
  t.equal(counts(await sync(device)), 'COMPLETED 1/1/0')
  t.equal(await contentOf(test, (await newest(test, rom)).id), 'device 2')

  await change('device 3', 'server 3')
  await configure(device, { ...config, conflict_resolution: 'keep_both' })
  t.equal(counts(await sync(device)), 'COMPLETED 1/1/0')
  t.equal(host.text('/saves/snes/Game.srm'), 'server 3')
  const copies = (await client.get<AssetItem[]>(`/api/saves?rom_id=${rom}`)).filter((save) => save.conflict_of !== null)
  t.same(await Promise.all(copies.map(({ id }) => contentOf(test, id))), ['device 3'])
})

t.test('a host is identified by its first key, or by known_hosts', async (t) => {
  const { test, reach, sync, get, configure } = await start(t)
  const [host, other] = [await startDeviceHost(t), await startDeviceHost(t)]
  host.put('/saves/snes/x.srm', 'x')
  const device = await reach(host)
  t.equal((await sync(device)).status, 'COMPLETED')
  const { sync_config: config } = await get(device)
  t.match(config, { ssh_host_key: host.fingerprint, ssh_password: '********' })
  t.notMatch(JSON.stringify((await test.app.pg.query('select * from devices')).rows), 'let me in')

  await configure(device, { ...config, ssh_host_key: other.fingerprint })
  const refused = await sync(device)
  t.equal(refused.status, 'FAILED')
  t.match(refused.error_message, `has the key ${host.fingerprint}`)
  t.equal(host.logins, 1, 'no password was shown to it')

  const { ssh_host_key: _key, ...withoutKey } = config ?? {}
  await configure(device, withoutKey)
  t.match(await get(device), { sync_config: { ssh_host_key: other.fingerprint } }, 'who does not send it back keeps it')
  await configure(device, { ...config, ssh_host_key: null })
  t.equal((await sync(device)).status, 'COMPLETED')
  t.match(await get(device), { sync_config: { ssh_host_key: host.fingerprint } })

  const known = join(base, 'known_hosts')
  t.teardown(() => rm(known, { force: true }))
  await writeFile(known, `[127.0.0.1]:${host.port} ssh-ed25519 ${other.hostKey}\n`)
  t.equal((await sync(device)).status, 'FAILED', 'the word of the administrator counts more')
  await writeFile(known, `[127.0.0.1]:${host.port} ssh-ed25519 ${host.hostKey}\n`)
  t.equal((await sync(device)).status, 'COMPLETED')
})

t.test('lines of known_hosts name hosts by patterns, ports and hashes', async (t) => {
  const salt = randomBytes(20)
  const hashed = `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update('deck.example').digest('base64')}`
  const text = `# comment\n\nplain,alias ssh-ed25519 A\n*.example,!bad.example ssh-rsa B comment\n[deck]:2222 ssh-rsa C\n${hashed} ssh-rsa D\n` +
    '@revoked plain ssh-rsa E\nbroken\n10.0.0.? ssh-rsa F'
  const found = (host: string, port = 22) => findKnownKeys(text, host, port)
  t.same([found('plain'), found('ALIAS'), found('deck.example'), found('bad.example'), found('deck'), found('deck', 2222), found('plain', 2222)],
    [['A'], ['A'], ['B', 'D'], [], [], ['C'], []])
  t.same([found('10.0.0.7'), found('10x0.0.7'), found('')], [['F'], [], []])
})

t.test('a key opens a host: pasted, or a file on the server with the name of the device', async (t) => {
  const { test, reach, sync, get } = await start(t)
  const host = await startDeviceHost(t)
  host.put('/saves/snes/x.srm', 'x')
  const pasted = await reach(host, { ssh_password: null, ssh_private_key: host.userKey })
  t.equal((await sync(pasted)).status, 'COMPLETED')
  t.match(await get(pasted), { sync_config: { ssh_private_key: '********' } })
  t.notMatch(JSON.stringify((await test.app.pg.query('select * from devices')).rows), /PRIVATE KEY/)

  const filed = await reach(host, { ssh_password: null })
  t.equal((await sync(filed)).status, 'FAILED')
  const keys = join(base, 'keys')
  await mkdir(keys, { recursive: true })
  await writeFile(join(keys, `${filed.device_id}.pem`), host.userKey)
  t.equal((await sync(filed)).status, 'COMPLETED')

  const named = await reach(host, { ssh_password: null, ssh_key_path: `${filed.device_id}.pem` })
  t.equal((await sync(named)).status, 'COMPLETED', 'an administrator names it')
  const outside = await reach(host, { ssh_password: null, ssh_key_path: '../key.pem' })
  await writeFile(join(base, 'key.pem'), host.userKey)
  t.equal((await sync(outside)).status, 'FAILED', 'no file outside of the folder is read')
})

t.test('V15: devices of users stay in the public internet and use only their own keys', async (t) => {
  const { test, reach } = await start(t)
  const host = await startDeviceHost(t)
  host.put('/saves/snes/x.srm', 'x')
  const zoe = createOwner(test, await test.createUser('zoe'))
  for (const address of ['127.0.0.1', 'localhost', '::ffff:127.0.0.1', '169.254.169.254']) {
    const session = await zoe.sync(await zoe.reach(host, { ssh_host: address }))
    t.match(session, { status: 'FAILED', error_message: /not in the public internet and is refused/ }, address)
  }
  const settings = { host: 'localhost', port: host.port, username: 'deck', password: 'let me in', host_key: null, directories: [] }
  const rules = { is_admin: false, networks: ['10.0.0.0/8', '127.0.0.0/8', '::1'], known_keys: [] }
  const connection = await connectSsh(settings, rules, AbortSignal.timeout(60_000))
  t.equal(connection.fingerprint, host.fingerprint, 'unless an administrator allows the network')
  connection.end()

  const owned = await reach(host)
  const keys = join(base, 'keys')
  await mkdir(keys, { recursive: true })
  await writeFile(join(keys, `${owned.device_id}.pem`), host.userKey)
  const { device_id: reference } = await zoe.reach(host, { ssh_password: null, ssh_key_path: `${owned.device_id}.pem` })
  const db = test.app.db
  const device = await db.em.findOneOrFail(DeviceEntity, { device_id: reference })
  const read = (isAdmin: boolean) => readSshSettings(test.config, test.app.secrets, device, isAdmin)
  t.notOk((await read(false)).privateKey)
  t.equal((await read(true)).privateKey, host.userKey)
})

t.test('a token without the scopes for saves cannot start a sync over SSH', async (t) => {
  const { test, client, reach, ask } = await start(t)
  const device = await reach(await startDeviceHost(t))
  const askWith = async (scopes: string[]) => {
    const { raw_token: raw } = (await client.call('POST', '/api/client-tokens', { name: 'x', scopes })).json<{ raw_token: string }>()
    return await createOwner(test, { authorization: `Bearer ${raw}` }).ask(device)
  }
  for (const scopes of [['devices.write'], ['devices.write', 'assets.read'], ['devices.write', 'assets.write']]) {
    t.equal((await askWith(scopes)).statusCode, 403, scopes.join())
  }
  t.equal((await askWith(['devices.write', 'assets.read', 'assets.write'])).statusCode, 200)
  t.equal((await ask(device)).statusCode, 200)
})

t.test('settings made with a token of an administrator do not reach the private network', async (t) => {
  const { test, client, reach, get, sync, configure } = await start(t)
  const host = await startDeviceHost(t)
  host.put('/saves/snes/x.srm', 'x')
  const scopes = ['me.read', 'devices.read', 'devices.write', 'assets.read', 'assets.write']
  const { raw_token: raw } = (await client.call('POST', '/api/client-tokens', { name: 'x', scopes })).json<{ raw_token: string }>()
  const app = createOwner(test, { authorization: `Bearer ${raw}` })
  const refused = { status: 'FAILED', error_message: /not in the public internet and is refused/ }
  const made = await app.reach(host)
  t.match(await sync(made), refused)
  const own = await reach(host)
  t.equal((await sync(own)).status, 'COMPLETED', 'those of an administrator do')
  await app.configure(own, { ...(await get(own)).sync_config, note: 'x' })
  t.equal((await app.sync(own)).status, 'COMPLETED', 'also after a change of something else')
  await app.configure(own, { ...(await get(own)).sync_config, save_directories: [] })
  t.match(await sync(own), refused)
  await configure(own, { ...(await get(own)).sync_config, save_directories: [DIRECTORY] })
  t.equal((await sync(own)).status, 'COMPLETED', 'signed in, the administrator makes them its own')
})

t.test('an impossible sync over SSH is refused, and a failed one says why in its session', async (t) => {
  const { test, register, ask, sync, reach, ended } = await start(t)
  const refusals: [object, string | RegExp][] = [
    [{ sync_mode: 'api' }, /'api'/],
    [{ sync_mode: 'push_pull' }, /ssh_host/],
    [{ sync_mode: 'push_pull', sync_config: { ssh_host: ' ' } }, /ssh_host/]
  ]
  for (const [fields, detail] of refusals) {
    const reply = await ask(await register(fields))
    t.match(reply, { statusCode: 400 })
    t.match(reply.json(), { detail })
  }
  t.equal((await ask({ id: '', device_id: '999', sync_config: null })).statusCode, 404)
  const host = await startDeviceHost(t)
  const device = await reach(host)
  await test.app.inject({ method: 'PUT', url: `/api/devices/${device.device_id}`, headers: test.admin, payload: { sync_enabled: false } })
  t.same((await ask(device)).json(), { detail: 'Sync is disabled for this device' })

  const events = await listen(t, test)
  const wrong: [object, RegExp][] = [
    [{ ssh_password: 'guessed' }, /failed: All configured authentication methods failed/],
    [{ ssh_port: 1 }, /ECONNREFUSED/],
    [{ ssh_port: 'x' }, /'ssh_port' is "x"/],
    [{ save_directories: [{ platform_slug: 'snes', path: '/nowhere' }] }, /The folder '\/nowhere' cannot be listed/],
    [{ ssh_private_key: 'no key' }, /Cannot parse privateKey/]
  ]
  for (const [config, message] of wrong) {
    const session = await sync(await reach(host, config))
    t.match(session, { status: 'FAILED', error_message: message })
    t.match(await events.next('sync:error'), { session_id: session.session_id, id: session.id, error: message })
  }
  const empty = await reach(host, { save_directories: [] })
  t.equal(counts(await sync(empty)), 'COMPLETED 0/0/0')
  t.match(await events.next('sync:completed'), { operations_completed: 0, operations_failed: 0 })
  const twice = await Promise.all([ask(empty), ask(empty)])
  for (const reply of twice) t.equal((await ended(reply.json<Session>().id)).status, 'COMPLETED')
})

t.test('a failing file fails alone, and a file that changes is left to the next sync', async (t) => {
  const { test, client, rom, reach, sync } = await start(t)
  const host = await startDeviceHost(t)
  const device = await reach(host)
  for (const slot of ['a', 'b']) {
    await client.save({ rom_id: rom, slot }, `${slot}.srm`, 'one')
    host.put(`/saves/snes/${slot}.srm`, 'one')
  }
  t.equal(counts(await sync(device)), 'COMPLETED 2/2/0')
  host.put('/saves/snes/a.srm', 'A')
  host.put('/saves/snes/b.srm', 'B')
  host.hook = (what, path) => { if (what === 'read' && path.endsWith('a.srm')) throw new Error('no permission') }
  t.equal(counts(await sync(device)), 'COMPLETED 2/1/1')
  t.equal(await contentOf(test, (await newest(test, rom, 'b')).id), 'B')
  host.hook = (what, path) => { if (what === 'read' && path.endsWith('a.srm')) host.put(path, 'A again') }
  t.equal(counts(await sync(device)), 'COMPLETED 2/1/1')
  t.equal(await contentOf(test, (await newest(test, rom, 'a')).id), 'one')
  host.hook = null
  t.equal(counts(await sync(device)), 'COMPLETED 2/2/0')
  t.equal(await contentOf(test, (await newest(test, rom, 'a')).id), 'A again')
  await client.save({ rom_id: rom, slot: 'a' }, 'a.srm', 'of the server')
  host.hook = (what) => { if (what === 'write') host.put('/saves/snes/a.srm', 'played meanwhile') }
  t.equal(counts(await sync(device)), 'COMPLETED 2/1/1')
  t.equal(host.text('/saves/snes/a.srm'), 'played meanwhile', 'what somebody plays is not written over')
  t.same(host.names('/saves/snes'), ['a.srm', 'b.srm'])
})

t.test('the task syncs every device that it can reach', async (t) => {
  const { test, reach, ended } = await start(t)
  const host = await startDeviceHost(t)
  host.put('/saves/snes/x.srm', 'x')
  await reach(host)
  await reach(host)
  const { task_id: task } = (await test.app.inject({ method: 'POST', url: '/api/tasks/run/sync_push_pull', headers: test.admin, payload: {} })).json<{ task_id: string }>()
  await until(async () => (await test.app.inject({ url: `/api/tasks/${task}`, headers: test.admin })).json<{ status: string }>().status === 'finished', 'the task')
  const sessions = (await test.app.inject({ url: '/api/sync/sessions', headers: test.admin })).json<Session[]>()
  t.equal(sessions.length, 2)
  for (const { id } of sessions) t.equal((await ended(id)).status, 'COMPLETED')
})

t.test("saves from a device's folder are imported, and newer server saves exported", async (t) => {
  const { test, client, rom, register, configure } = await start(t)
  const device = await register({ sync_mode: 'file_transfer' })
  const folder = join(base, device.device_id)
  t.same((await readdir(folder)).sort(), ['conflicts', 'incoming', 'outgoing'])
  const events = await listen(t, test)
  await client.save({ rom_id: rom, slot: 'main' }, 'Game.srm', 'one')
  const incoming = (name: string) => join(folder, 'incoming', 'snes', name)
  const drop = async (name: string, content: string) => {
    await mkdir(join(folder, 'incoming', 'snes'), { recursive: true })
    await writeFile(incoming(`.${name}`), content)
    await rename(incoming(`.${name}`), incoming(name))
  }
  const done = (name: string) => until(() => !existsSync(incoming(name)), `${name} to be taken in`)

  await drop('Game.srm', 'one')
  await done('Game.srm')
  t.match(await events.next('sync:started'), { sync_mode: 'file_transfer', device_id: device.device_id })
  t.match(await events.next('sync:completed'), { operations_completed: 1, operations_failed: 0 })

  await drop('Game.srm', 'two')
  await done('Game.srm')
  t.equal(await contentOf(test, (await newest(test, rom)).id), 'two')

  await client.save({ rom_id: rom, slot: 'main' }, 'Game.srm', 'three')
  await drop('Game.srm', 'two')
  await done('Game.srm')
  t.equal(await readFile(join(folder, 'outgoing', 'snes', 'Game.srm'), 'utf8'), 'three')

  await client.save({ rom_id: rom, slot: 'main' }, 'Game.srm', 'four')
  await drop('Game.srm', 'other')
  await done('Game.srm')
  t.same(await readdir(join(folder, 'conflicts', 'snes')), ['Game.srm'])
  t.match(await events.next('sync:conflict'), { file_name: 'Game.srm', rom_id: rom })

  await configure(device, { conflict_resolution: 'device_wins' })
  await drop('nobody.srm', 'x')
  await symlink(join(test.config.data_dir, 'secret'), incoming('Link.srm'))
  await drop('Game.srm', 'other')
  await done('Game.srm')
  t.equal(await contentOf(test, (await newest(test, rom)).id), 'other')
  t.same((await readdir(join(folder, 'incoming', 'snes'))).sort(), ['Link.srm', 'nobody.srm'], 'what is no save stays')
})
