import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../../until.ts'
import type { AssetItem } from '../assets/support.ts'
import { type Session, base, contentOf, counts, listen, newest, startServerSync } from './server-sync-support.ts'
import { startDeviceHost } from './sftp-server.ts'

const { start } = await startServerSync(t)

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
  t.match(JSON.parse(versions), { 0: { file_size_bytes: 8 } }, 'the content of the device is among the versions')

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
