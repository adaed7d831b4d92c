import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type Socket, io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { userRoom } from '../../../core/sockets/sockets.ts'
import type { App } from '../../../core/typebox.ts'
import type { ActivityEntryView } from '../../../plugins/activity/schemas.ts'
import { awaitEarlierEvents } from '../../core/sockets-support.ts'
import { buildTestApp } from '../../support.ts'
import { addRom, countQueries } from '../roms/support.ts'
import { until } from '../../until.ts'
import { startSecondWorker } from '../tasks/workers-support.ts'

type Headers = Record<string, string>
type Heard = [event: string, payload: Record<string, unknown>][]

const test = await buildTestApp(t)
const { app, admin } = test
const other = await startSecondWorker(t, test)

const alice = await test.createUser('alice')
const bob = await test.createUser('bob')
const { rows: users } = await app.pg.query<{ id: number, username: string }>('select id, username from users')
const idOf = (name: string) => users.find((user) => user.username === name)?.id ?? 0

const open = await addRom(test, {
  fs_name: 'Open.sfc',
  fields: { name: 'Open Harbor', path_cover_small: 'roms/1/small.png', path_screenshots: ['roms/1/0.jpg'] }
})
const second = await addRom(test, { fs_name: 'Second.sfc', fields: { name: null } })
const secret = await addRom(test, { fs_name: 'Secret.sfc' })
await app.pg.query("insert into hidden_entities (entity, entity_id, user_id) values ('roms', $1, $2)", [secret, idOf('bob')])

interface Made { id: number, device_id: string }
async function makeDevice (username: string, client: string | null = null): Promise<Made> {
  const { rows: [row] } = await app.pg.query<Made>('insert into devices (user_id, client) values ($1, $2) returning id, device_id',
    [idOf(username), client])
  return row ?? { id: 0, device_id: '' }
}

const beat = (payload: object, headers: Headers = alice) =>
  app.inject({ method: 'POST', url: '/api/activity/heartbeat', headers, payload })
const clear = (device: number | string, headers: Headers = alice) =>
  app.inject({ method: 'DELETE', url: `/api/activity/heartbeat?device_id=${device}`, headers })

async function list (headers: Headers, path = ''): Promise<ActivityEntryView[]> {
  const reply = await app.inject({ url: `/api/activity${path}`, headers })
  if (reply.statusCode !== 200) throw new Error(reply.body)
  return reply.json<ActivityEntryView[]>()
}
const romsSeen = async (headers: Headers) => (await list(headers)).map((entry) => entry.rom_id).sort((a, b) => a - b)

/** Opens a socket that is bound to its session, and collects its events. */
async function connect (t: Pick<Test, 'teardown'>, at: App, username: string | null): Promise<{ socket: Socket, heard: Heard }> {
  const authorization = `Basic ${Buffer.from(`${username}:a password`).toString('base64')}`
  const cookies = username === null ? [] : (await app.inject({ method: 'POST', url: '/api/login', headers: { authorization } })).cookies
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const socket = io(`http://127.0.0.1:${(at.server.address() as AddressInfo).port}`, {
    path: '/ws/socket.io', transports: ['websocket'], forceNew: true, reconnection: false, extraHeaders: { cookie }
  })
  t.teardown(() => { socket.disconnect() })
  await once(socket as never, 'connect')
  const { id = '' } = socket
  if (username !== null) {
    await until(() => at.sockets.main.sockets.adapter.rooms.get(userRoom(idOf(username)))?.has(id) === true, 'the socket is bound')
  }
  await awaitEarlierEvents(socket, app, other)
  const heard: Heard = []
  socket.onAny((event: string, payload: Record<string, unknown>) => { heard.push([event, payload]) })
  return { socket, heard }
}

async function hears (heard: Heard, event: string, about: object): Promise<void> {
  const isMeant = ([name, payload]: Heard[number]) =>
    name === event && Object.entries(about).every(([key, value]) => payload[key] === value)
  await until(() => heard.some(isMeant), `${event} ${JSON.stringify(about)}`)
}

t.beforeEach(async () => { await app.pg.query('delete from activity_entries') })

t.test('a heartbeat returns the entry, and others see it until it expires', async (t) => {
  const device = await makeDevice('alice', 'handheld')
  const reply = await beat({ rom_id: open, device_id: device.device_id })
  t.equal(reply.statusCode, 200)
  const entry = reply.json<ActivityEntryView>()
  t.match(entry, {
    user_id: idOf('alice'), username: 'alice', avatar_path: '', rom_id: open, rom_name: 'Open Harbor',
    rom_cover_path: /^\/assets\/romm\/resources\/[\w-]+\/roms\/1\/small\.png\?ts=2/, screenshot_path: /roms\/1\/0\.jpg\?ts=/,
    platform_slug: 'snes', platform_name: 'Super Nintendo Entertainment System', device_id: device.device_id, device_type: 'handheld',
    started_at: /^\d{4}-.*\+00:00$/
  })
  t.same(await list(bob), [entry])
  t.same(await list(bob, `/rom/${open}`), [entry])
  t.same(await list(bob, `/rom/${second}`), [])
  t.same((await beat({ rom_id: open, device_id: device.id })).json(), entry, 'by its other id too; it began when it began')
  const { rows: [row] } = await app.pg.query<{ left: number }>(
    'select extract(epoch from expires_at - now())::float8 as left from activity_entries')
  t.ok((row?.left ?? 0) > 80 && (row?.left ?? 0) <= 90, 'ninety seconds')
  const { rows: [seen] } = await app.pg.query('select last_seen is not null as seen from devices where id = $1', [device.id])
  t.same(seen, { seen: true })
  await app.pg.query("update activity_entries set expires_at = now() - interval '1 second', started_at = started_at - interval '1 hour'")
  t.same(await list(bob), [], 'gone without a word')
  const again = (await beat({ rom_id: open, device_id: device.id })).json<ActivityEntryView>()
  t.ok(again.started_at >= entry.started_at, 'what comes after is a new one')
})

t.test('an entry shows a public thumbnail, else its title screen, else a screenshot', async (t) => {
  const device = await makeDevice('alice')
  const shown = async (rom: number) => (await beat({ rom_id: rom, device_id: device.id })).json<ActivityEntryView>()
  t.match(await shown(second), { rom_name: 'Second.sfc', rom_cover_path: '', screenshot_path: '', device_type: 'unknown' })
  await app.pg.query('update roms set media = $2 where id = $1', [open, { title_screen: { url: 'x', path: 'roms/1/title.png' } }])
  t.match(await shown(open), { screenshot_path: /roms\/1\/title\.png/ })
  const asset = async (kind: string, name: string, isPublic: boolean) => (await app.pg.query<{ id: number }>(
    `insert into assets (kind, user_id, rom_id, platform_fs_slug, rom_fs_name, file_name, sha1, disk_path, is_public)
      values ($1, $2, $3, 'snes', 'Open.sfc', $4, '', $4, $5) returning id`,
    [kind, idOf('alice'), open, name, isPublic])).rows[0]?.id
  await asset('save', 'Open.srm', true)
  const thumbnail = await asset('screenshot', 'Open.png', false)
  await asset('screenshot', 'Another.png', true)
  t.match(await shown(open), { screenshot_path: /title\.png/ }, 'a private one is nobody else’s to see')
  await app.pg.query('update assets set is_public = true where id = $1', [thumbnail])
  t.match(await shown(open), { screenshot_path: new RegExp(`^/api/screenshots/${thumbnail}/content\\?timestamp=2`) })
})

t.test('a user plays only visible ROMs on own devices', async (t) => {
  const [own, foreign] = [await makeDevice('bob'), await makeDevice('alice')]
  for (const payload of [
    { rom_id: secret, device_id: own.id }, { rom_id: 1_999_999, device_id: own.id },
    { rom_id: open, device_id: foreign.id }, { rom_id: open, device_id: foreign.device_id }, { rom_id: open, device_id: 'nothing' }
  ]) t.equal((await beat(payload, bob)).statusCode, 404, JSON.stringify(payload))
  for (const payload of [
    {}, { rom_id: open }, { rom_id: 0, device_id: own.id }, { rom_id: 2 ** 31, device_id: own.id }, { rom_id: open, device_id: '' }
  ]) {
    t.equal((await beat(payload, bob)).statusCode, 422, JSON.stringify(payload))
  }
  await beat({ rom_id: open, device_id: foreign.id })
  for (const device of [foreign.id, foreign.device_id, 1_999_999, 'nothing']) {
    t.equal((await clear(device, bob)).statusCode, 204, 'there is nothing to end')
  }
  t.same(await romsSeen(bob), [open])
  t.equal((await beat({ rom_id: open, device_id: own.id, user_id: idOf('alice') }, bob)).json<ActivityEntryView>().username, 'bob')
  t.equal((await clear(own.device_id, bob)).statusCode, 204)
  t.equal((await clear(own.device_id, bob)).statusCode, 204, 'also when there is none')
  t.same((await list(bob)).map((entry) => entry.username), ['alice'])
})

t.test('a list contains no hidden game and needs one query for many games', async (t) => {
  for (const rom of [open, secret, second]) await beat({ rom_id: rom, device_id: (await makeDevice('alice')).id })
  t.same(await romsSeen(alice), [open, second, secret])
  t.same(await romsSeen(bob), [open, second])
  t.same(await list(bob, `/rom/${secret}`), [])
  t.equal((await list(admin, `/rom/${secret}`)).length, 1)
  const queries = await countQueries(test, () => list(bob))
  await beat({ rom_id: open, device_id: (await makeDevice('alice')).id })
  t.equal(await countQueries(test, () => list(bob)), queries)
  await app.pg.query("update users set enabled = false where username = 'alice'")
  t.same(await list(bob), [], 'nor what somebody plays whose account is disabled')
  await app.pg.query("update users set enabled = true where username = 'alice'")
})

t.test('events reach only users who may see the ROM, on every worker, and no guests', async (t) => {
  const [player, watcher, guest, master] = [
    await connect(t, app, 'alice'), await connect(t, other, 'bob'), await connect(t, other, null), await connect(t, other, 'admin')
  ]
  const device = await makeDevice('alice')
  const names = { device_id: device.device_id, user_id: idOf('alice') }
  player.socket.emit('activity:start', { rom_id: secret, device_id: device.id, user_id: idOf('bob') })
  await hears(master.heard, 'activity:update', { ...names, rom_id: secret, username: 'alice', device_type: 'web' })
  player.socket.emit('activity:heartbeat', { rom_id: open, device_id: device.device_id })
  await hears(master.heard, 'activity:clear', { ...names, rom_id: secret })
  for (const { heard } of [master, watcher, player]) await hears(heard, 'activity:update', { ...names, rom_id: open })
  player.socket.emit('activity:stop', { rom_id: open })
  for (const { heard } of [master, watcher, player]) await hears(heard, 'activity:clear', { ...names, rom_id: open })
  t.same(watcher.heard.map(([event, { rom_id: rom }]) => [event, rom]), [['activity:update', open], ['activity:clear', open]])
  t.same(guest.heard, [])
  t.same(master.heard.map(([event]) => event), ['update', 'clear', 'update', 'clear'].map((name) => `activity:${name}`))
  t.same(await list(alice), [])
})

t.test('entries and events contain the device id that its registration returned', async (t) => {
  const { socket, heard } = await connect(t, app, 'alice')
  const device = await makeDevice('alice')
  await app.pg.query('update devices set is_numbered = true where id = $1', [device.id])
  t.match((await beat({ rom_id: open, device_id: device.device_id })).json(), { device_id: device.id })
  t.match(await list(alice), [{ device_id: device.id }])
  socket.emit('activity:start', { rom_id: second, device_id: device.device_id })
  await hears(heard, 'activity:update', { device_id: device.id, rom_id: second })
  socket.emit('activity:stop', { rom_id: second })
  await hears(heard, 'activity:clear', { device_id: device.id, rom_id: second })
})

t.test('only a start resets the start time, and a late stop ends no other game', async (t) => {
  const { socket, heard } = await connect(t, app, 'alice')
  const device = await makeDevice('alice', 'web')
  const began = async () => (await app.pg.query<{ started_at: Date }>('select started_at from activity_entries')).rows[0]?.started_at.getTime()
  /** Waits until the socket's earlier events were handled. */
  const settle = async () => {
    const before = heard.length
    socket.emit('scan:stop', {})
    await until(() => heard.slice(before).some(([event]) => event === 'scan:done_ko'), 'its events were handled')
  }
  socket.emit('activity:start', { rom_id: open, device_id: device.id })
  await settle()
  await app.pg.query("update activity_entries set started_at = '2026-01-01Z'")
  socket.emit('activity:heartbeat', { rom_id: open, device_id: device.id })
  await settle()
  t.equal(await began(), Date.UTC(2026, 0, 1))
  socket.emit('activity:start', { rom_id: second, device_id: device.id })
  socket.emit('activity:stop', { rom_id: open, device_id: device.id })
  await settle()
  t.same(await romsSeen(bob), [second])
  t.not(await began(), Date.UTC(2026, 0, 1))
  await app.pg.query("update activity_entries set started_at = '2026-01-01Z'")
  socket.emit('activity:start', { rom_id: second, device_id: device.id })
  await settle()
  t.not(await began(), Date.UTC(2026, 0, 1))
  const foreign = await makeDevice('bob')
  for (const wrong of [
    {}, null, 'x', { rom_id: open }, { rom_id: 'x', device_id: device.id }, { rom_id: open, device_id: {} },
    { rom_id: 1_999_999, device_id: device.id }, { rom_id: open, device_id: foreign.id }
  ]) for (const name of ['start', 'heartbeat', 'stop']) socket.emit(`activity:${name}`, wrong)
  await settle()
  t.same(await romsSeen(bob), [second], 'what is malformed or not one’s own changes nothing')
  await hears(heard, 'activity:clear', { rom_id: open })
  t.same([...new Set(heard.map(([event]) => event))].sort(), ['activity:clear', 'activity:update', 'scan:done_ko'], 'nor is it answered')
  for (const name of ['start', 'stop', 'start', 'stop']) socket.emit(`activity:${name}`, { rom_id: open, device_id: device.id })
  await settle()
  t.same(await list(bob), [], 'what was sent last holds')
})

t.test('closing a socket ends only the entries that it started', async (t) => {
  const [first, later, watcher] = [await connect(t, app, 'alice'), await connect(t, other, 'alice'), await connect(t, app, 'bob')]
  const [device, taken] = [await makeDevice('alice'), await makeDevice('alice')]
  first.socket.emit('activity:start', { rom_id: open, device_id: device.id })
  first.socket.emit('activity:start', { rom_id: second, device_id: taken.id })
  for (const rom of [open, second]) await hears(watcher.heard, 'activity:update', { rom_id: rom })
  watcher.heard.length = 0
  later.socket.emit('activity:heartbeat', { rom_id: second, device_id: taken.id })
  await hears(watcher.heard, 'activity:update', { rom_id: second })
  first.socket.disconnect()
  await hears(watcher.heard, 'activity:clear', { user_id: idOf('alice'), rom_id: open, device_id: device.device_id })
  t.same(await romsSeen(bob), [second], 'another socket keeps it alive')
  await app.sockets.end({ kind: 'user', id: idOf('alice') })
  await hears(watcher.heard, 'activity:clear', { rom_id: second })
  t.same(await list(bob), [])
})

t.test('an entry that another client continued does not end with the first socket', async (t) => {
  const [first, watcher] = [await connect(t, app, 'alice'), await connect(t, app, 'bob')]
  const [switched, resumed] = [await makeDevice('alice'), await makeDevice('alice')]
  for (const { id } of [switched, resumed]) first.socket.emit('activity:start', { rom_id: open, device_id: id })
  for (const device of [switched, resumed]) await hears(watcher.heard, 'activity:update', { device_id: device.device_id })
  await app.pg.query("update activity_entries set expires_at = now() - interval '1 second' where device_id = $1", [resumed.id])
  await beat({ rom_id: second, device_id: switched.id })
  await beat({ rom_id: open, device_id: resumed.id })
  const last = await makeDevice('alice')
  first.socket.emit('activity:start', { rom_id: open, device_id: last.id })
  await hears(watcher.heard, 'activity:update', { device_id: last.device_id })
  first.socket.disconnect()
  await hears(watcher.heard, 'activity:clear', { device_id: last.device_id })
  t.same(await romsSeen(bob), [open, second])
})

t.test('concurrent heartbeats and stops of a game do not fail', async (t) => {
  const device = await makeDevice('alice')
  const replies = await Promise.all(Array.from({ length: 40 }, (_, i) =>
    i % 2 === 0 ? beat({ rom_id: open, device_id: device.id }) : clear(device.id)))
  t.same([...new Set(replies.map(({ statusCode }) => statusCode))].sort(), [200, 204])
})

t.test('deleting a device ends its entry', async (t) => {
  const [watcher, device] = [await connect(t, other, 'bob'), await makeDevice('alice')]
  await beat({ rom_id: open, device_id: device.id })
  const reply = await app.inject({ method: 'DELETE', url: `/api/devices/${device.id}`, headers: alice })
  t.equal(reply.statusCode, 204)
  await hears(watcher.heard, 'activity:clear', { user_id: idOf('alice'), rom_id: open, device_id: device.device_id })
})

t.test('an unknown audience makes all clients refresh, once for a burst in all workers', async (t) => {
  const [here, there] = [await connect(t, app, 'bob'), await connect(t, other, null)]
  const player = await connect(t, other, 'admin')
  const device = await makeDevice('admin')
  await app.pg.query('alter table hidden_entities rename to hidden_elsewhere')
  const since = Date.now()
  t.teardown(() => app.pg.query('alter table if exists hidden_elsewhere rename to hidden_entities'))
  for (let i = 0; i < 3; i++) {
    t.equal((await beat({ rom_id: open, device_id: device.id }, admin)).statusCode, 200)
    player.socket.emit('activity:heartbeat', { rom_id: open, device_id: device.id })
  }
  for (const { heard } of [here, there]) await hears(heard, 'activity:refresh', {})
  await app.pg.query('alter table hidden_elsewhere rename to hidden_entities')
  player.socket.emit('activity:stop', { rom_id: open, device_id: device.id })
  await hears(here.heard, 'activity:clear', { rom_id: open })
  const asked = here.heard.filter(([event]) => event === 'activity:refresh')
  t.ok(asked.length <= Math.floor((Date.now() - since + 10) / 1_000), `asked ${asked.length} times`)
  t.same(there.heard, asked, 'guests too, and of nothing else')
})
