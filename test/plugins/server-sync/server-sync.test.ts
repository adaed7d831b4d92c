import { createHmac, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { Device as DeviceEntity } from '../../../plugins/devices/entities.ts'
import { connectSsh } from '../../../plugins/server-sync/ssh/connect.ts'
import { findKnownKeys } from '../../../plugins/server-sync/ssh/known-hosts.ts'
import { readSshSettings } from '../../../plugins/server-sync/ssh/settings.ts'
import { addRom } from '../roms/support.ts'
import { until } from '../../until.ts'
import { type Session, DIRECTORY, base, contentOf, counts, createOwner, newest, startServerSync } from './server-sync-support.ts'
import { startDeviceHost } from './sftp-server.ts'

const { start } = await startServerSync(t)

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
  const { test, client, reach, ask, ended } = await start(t)
  const device = await reach(await startDeviceHost(t))
  const askWith = async (scopes: string[]) => {
    const { raw_token: raw } = (await client.call('POST', '/api/client-tokens', { name: 'x', scopes })).json<{ raw_token: string }>()
    return await createOwner(test, { authorization: `Bearer ${raw}` }).ask(device)
  }
  for (const scopes of [['devices.write'], ['devices.write', 'assets.read'], ['devices.write', 'assets.write']]) {
    t.equal((await askWith(scopes)).statusCode, 403, scopes.join())
  }
  const accepted = [await askWith(['devices.write', 'assets.read', 'assets.write']), await ask(device)]
  t.same(accepted.map(({ statusCode }) => statusCode), [200, 200])
  // The sessions of the next test have the same ids.
  for (const reply of accepted) await ended(reply.json<Session>().id)
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

t.test('a save whose name has a plus sign is synced over SSH', async (t) => {
  const { test, client, reach, sync } = await start(t)
  const rom = await addRom(test, { fs_name: 'A + B.sfc', platform: 'snes' })
  const host = await startDeviceHost(t)
  const device = await reach(host)
  host.put('/saves/snes/other.srm', 'of no game')
  await client.save({ rom_id: rom, slot: 'main' }, 'A + B.srm', 'one')
  t.equal(counts(await sync(device)), 'COMPLETED 1/1/0')
  t.same(host.names('/saves/snes'), ['A + B.srm', 'other.srm'])
  host.put('/saves/snes/A + B.srm', 'two')
  t.equal(counts(await sync(device)), 'COMPLETED 2/1/0')
  t.equal(await contentOf(test, (await newest(test, rom)).id), 'two')
})

t.test('a copy of a save on a device does not replace the save', async (t) => {
  const { test, client, rom, reach, sync } = await start(t)
  const host = await startDeviceHost(t)
  const device = await reach(host)
  await client.save({ rom_id: rom, slot: 'main' }, 'Game.srm', 'now')
  host.put('/saves/snes/Game [2024-01-01_00-00-00].srm', 'long ago')
  host.put('/saves/snes/Game.srm', 'now')
  host.put('/saves/snes/Game [2025-01-01_00-00-00].srm', 'a year ago')
  for (const content of ['now', 'now', 'next', 'next']) {
    host.put('/saves/snes/Game.srm', content)
    t.equal(counts(await sync(device)), 'COMPLETED 3/1/0')
    t.equal(host.text('/saves/snes/Game.srm'), content)
    t.equal(await contentOf(test, (await newest(test, rom)).id), content)
  }
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
