import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { userRoom } from '../../../core/sockets/sockets.ts'
import type { App } from '../../../core/typebox.ts'
import { isRelayable, sizeOf } from '../../../plugins/netplay/relay.ts'
import { buildTestApp } from '../../support.ts'
import { until } from '../../until.ts'
import { type Peer, connectPeer, roomData } from './support.ts'
import { addRom } from '../roms/support.ts'
import { startSecondWorker } from '../tasks/workers-support.ts'

const test = await buildTestApp(t)
const { app, admin } = test
const other = await startSecondWorker(t, test)
const game = await addRom(test, { fs_name: 'Kart.sfc' })
const adults = await addRom(test, { fs_name: 'Mature.sfc', fields: { min_age: 18 } })

const urlOf = (at: App) => `http://127.0.0.1:${(at.server.address() as AddressInfo).port}`

interface Login { authorization: string, cookie: string, headers: Record<string, string> }

async function logIn (name: string): Promise<Login> {
  const { authorization } = name === 'admin' ? admin : await test.createUser(name)
  const reply = await app.inject({ method: 'POST', url: '/api/login', headers: { authorization } })
  const cookies = new Map(reply.cookies.map((cookie) => [cookie.name, cookie.value]))
  const csrf = cookies.get('svc_csrftoken') ?? ''
  const cookie = `svc_session=${cookies.get('svc_session')}; svc_csrftoken=${csrf}`
  return { authorization, cookie, headers: { cookie, 'x-csrftoken': csrf } }
}

const [alice, bob] = [await logIn('alice'), await logIn('bob')]
const peerOf = (t: Pick<Test, 'teardown'>, at: App, login: Login | null) => connectPeer(t, urlOf(at), login?.cookie ?? null)

let nextRoom = 1
const newRoom = () => `room-${nextRoom++}`

const listRooms = async (gameId: number | string = game, headers: object = { authorization: alice.authorization }) =>
  await app.inject({ url: `/api/netplay/list?game_id=${gameId}`, headers: { ...headers } })
const findRoom = async (id: string) => (await listRooms()).json<Record<string, unknown>>()[id]

/** Returns the ids of players in the last event that a peer received. */
const lastTold = (peer: Peer) => Object.keys(peer.heard('users-updated').at(-1) ?? {})

async function untilTold (peer: Peer, players: string[]): Promise<void> {
  await until(() => lastTold(peer).join() === players.join(), `${players.join()} in the room`)
}

/** Opens a room of alice and joins it with bob, on different workers. */
async function openPair (t: Pick<Test, 'teardown'>, more: Record<string, unknown> = {}) {
  const [id, owner, guest] = [newRoom(), await peerOf(t, app, alice), await peerOf(t, other, bob)]
  await owner.ask('open-room', roomData(id, 'a', game, more))
  await guest.ask('join-room', roomData(id, 'b', game, more))
  await Promise.all([untilTold(owner, ['a', 'b']), untilTold(guest, ['a', 'b'])])
  return { id, owner, guest }
}

t.test('players on two workers meet, connect, exchange data and leave as in EmulatorJS', async (t) => {
  const id = newRoom()
  const owner = await peerOf(t, app, alice)
  t.same(await owner.ask('open-room', roomData(id, 'a', game)), [], 'no error')
  t.same(await findRoom(id), { room_name: 'Evening', current: 1, max: 2, player_name: 'Name of a', hasPassword: false })

  const guest = await peerOf(t, other, bob)
  const players = {
    a: { socketId: owner.socket.id, player_name: 'Name of a', userid: 'a', playerId: 'a' },
    b: { socketId: guest.socket.id, player_name: 'Name of b', userid: 'b', playerId: 'b' }
  }
  t.same(await guest.ask('join-room', roomData(id, 'b', game)), [null, players])
  await Promise.all([untilTold(owner, ['a', 'b']), untilTold(guest, ['a', 'b'])])
  t.same(owner.heard('users-updated').at(-1), players)
  t.equal(await findRoom(id), undefined, 'no place is free')

  guest.socket.emit('webrtc-signal', { target: owner.socket.id, requestRenegotiate: true })
  owner.socket.emit('webrtc-signal', { target: guest.socket.id, offer: { type: 'offer', sdp: 'v=0' } })
  guest.socket.emit('webrtc-signal', { target: owner.socket.id, answer: { type: 'answer', sdp: 'v=0' } })
  guest.socket.emit('webrtc-signal', { target: owner.socket.id, candidate: { candidate: 'udp 1' } })
  guest.socket.emit('webrtc-signal-error', { error: 'none' })
  await until(() => owner.heard('webrtc-signal').length === 3 && guest.heard('webrtc-signal').length === 1, 'all signals')
  const from = { sender: guest.socket.id }
  t.same(owner.heard('webrtc-signal'), [
    { ...from, requestRenegotiate: true },
    { ...from, candidate: null, offer: null, answer: { type: 'answer', sdp: 'v=0' } },
    { ...from, candidate: { candidate: 'udp 1' }, offer: null, answer: null }
  ])
  t.match(guest.heard('webrtc-signal'), [{ sender: owner.socket.id, offer: { type: 'offer' } }])

  const state = Buffer.alloc(200_000, 7)
  owner.socket.emit('snapshot', { frame: 1, state })
  owner.socket.emit('data-message', { 'sync-control': [{ frame: 60, connected_input: [0, 1, 1] }] })
  guest.socket.emit('input', [0, 3, 1])
  await until(() => guest.heard('snapshot').length === 1 && guest.heard('data-message').length === 1 &&
    owner.heard('input').length === 1, 'all of it')
  t.same(guest.heard('snapshot'), [{ frame: 1, state }])
  t.same(guest.heard('data-message'), [{ 'sync-control': [{ frame: 60, connected_input: [0, 1, 1] }] }])
  t.same(owner.heard('input'), [[0, 3, 1]])
  t.same(guest.heard('input'), [], 'not to the one who sent it')

  guest.socket.emit('leave-room')
  await untilTold(owner, ['a'])
  t.match(await findRoom(id), { current: 1, player_name: 'Name of a' })
  owner.socket.disconnect()
  await until(async () => (await app.pg.query('select 1 from netplay_rooms where id = $1', [id])).rowCount === 0, 'the room is gone')
})

t.test('the longest remaining player owns the room', async (t) => {
  const { id, owner, guest } = await openPair(t, { maxPlayers: 3 })
  owner.socket.disconnect()
  await untilTold(guest, ['b'])
  t.match(await findRoom(id), { player_name: 'Name of b', current: 1, max: 3 })
  const third = await peerOf(t, app, alice)
  await third.ask('join-room', roomData(id, 'c', game))
  await untilTold(guest, ['b', 'c'])
  t.match(await findRoom(id), { player_name: 'Name of b' })
})

t.test('a room with a password admits exactly those who know it, even without an account', async (t) => {
  const [id, owner] = [newRoom(), await peerOf(t, app, alice)]
  await owner.ask('open-room', roomData(id, 'a', game, { password: 'Föhn', maxPlayers: 9 }))
  t.match(await findRoom(id), { hasPassword: true, max: 9 })
  const guest = await peerOf(t, other, null)
  for (const password of ['', 'föhn', 'Föhn ', null, undefined]) {
    t.same(await guest.ask('join-room', roomData(id, 'b', game, { password })), ['Incorrect password'], String(password))
  }
  t.match(await guest.ask('join-room', roomData(id, 'b', game, { password: 'Föhn' })), [null, { a: {}, b: {} }])
  const data = roomData(id, 'c', game, { password: undefined })
  const late = await peerOf(t, other, null)
  t.match(await late.ask('join-room', { ...data, extra: { ...data.extra, room_password: 'Föhn' } }), [null, { c: {} }], 'in its other place')
  const { rows } = await app.pg.query<{ row: string }>('select r::text as row from netplay_rooms r')
  t.notOk(rows.some(({ row }) => row.includes('Föhn')), 'it is not stored')
})

t.test('a socket that guesses passwords is disconnected', async (t) => {
  const [id, owner, guest] = [newRoom(), await peerOf(t, app, alice), await peerOf(t, app, null)]
  await owner.ask('open-room', roomData(id, 'a', game, { password: 'secret' }))
  for (let count = 0; count < 11; count++) guest.socket.emit('join-room', roomData(id, 'b', game, { password: `${count}` }))
  await until(() => !guest.socket.connected, 'it is closed')
})

t.test('password guesses are counted by network and room, across sockets', async (t) => {
  const [id, another, owner] = [newRoom(), newRoom(), await peerOf(t, app, alice)]
  await owner.ask('open-room', roomData(id, 'a', game, { password: 'secret' }))
  await (await peerOf(t, app, alice)).ask('open-room', roomData(another, 'a', game, { password: 'secret' }))
  await app.pg.query("delete from throttles where key like 'netplay:%'")
  for (let count = 0; count < 10; count++) {
    const guest = await peerOf(t, count % 2 === 0 ? app : other, null)
    t.same(await guest.ask('join-room', roomData(id, 'b', game, { password: `${count}` })), ['Incorrect password'])
    guest.socket.disconnect()
  }
  const guest = await peerOf(t, other, null)
  for (const password of ['again', 'secret']) {
    t.match(await guest.ask('join-room', roomData(id, 'b', game, { password })), [/^Too many attempts; try again in \d+ s$/])
  }
  t.match(await guest.ask('join-room', roomData(another, 'b', game, { password: 'secret' })), [null, { b: {} }], 'another room is not concerned')
  await app.pg.query("update throttles set blocked_until = now() where key like 'netplay:%'")
  t.match(await guest.ask('join-room', roomData(id, 'b', game, { password: 'secret' })), [null, { b: {} }])
  t.equal((await app.pg.query("select from throttles where key like 'netplay:%' and count > 0")).rowCount, 0, 'the right one forgives the wrong ones')
})

t.test('V9, netplay: rooms of a hidden game cannot be opened, joined or listed', async (t) => {
  const refusal = ['Not authorized to open a room for this game']
  const guest = await peerOf(t, app, null)
  t.same(await guest.ask('open-room', roomData(newRoom(), 'g', game)), refusal, 'without an account')
  await app.pg.query('update permission_groups set age_limit = 12 where is_default')
  t.teardown(() => app.pg.query('update permission_groups set age_limit = null where is_default'))
  const child = await logIn('child')
  const peer = await peerOf(t, other, child)
  for (const [gameId, what] of [[adults, 'by age'], ['999999', 'unknown'], ['', 'none'], ['x', 'no id'], ['99999999999', 'too large']] as const) {
    t.same(await peer.ask('open-room', roomData(newRoom(), 'c', gameId)), refusal, what)
  }
  t.same((await listRooms(adults, { authorization: child.authorization })).statusCode, 404)
  t.same((await listRooms(adults, { authorization: alice.authorization })).statusCode, 404)
  t.same((await listRooms(adults, admin)).json(), {})

  const [chief, id] = [await peerOf(t, app, await logIn('admin')), newRoom()]
  t.same(await chief.ask('open-room', roomData(id, 'a', adults)), [])
  t.match(await peer.ask('join-room', roomData(id, 'c', game)), [/^Not authorized/], 'whatever game is named')
  t.match(await guest.ask('join-room', roomData(id, 'g', adults)), [/^Not authorized/])
  t.match(await peer.ask('join-room', roomData('no such room', 'c', game)), [/does not exist any more/])
})

t.test('a room has each player once, and no more players than places', async (t) => {
  const { id } = await openPair(t, { maxPlayers: 3 })
  const third = await peerOf(t, app, alice)
  t.match(await third.ask('join-room', roomData(id, 'b', game)), [/player with this id/])
  const wishes = await Promise.all(['c', 'd', 'e', 'f'].map(async (name, index) =>
    await (await peerOf(t, index % 2 === 0 ? app : other, alice)).ask('join-room', roomData(id, name, game))))
  t.equal(wishes.filter(([error]) => error === null).length, 1, 'one gets the last place')
  t.equal(wishes.filter(([error]) => /full/.test(String(error))).length, 3)
  const [owner, second] = [await peerOf(t, app, alice), await peerOf(t, other, alice)]
  const twice = newRoom()
  const opened = await Promise.all([owner, second].map((peer) => peer.ask('open-room', roomData(twice, 'a', game))))
  t.equal(opened.filter((answer) => answer.length === 0).length, 1, 'an id is for one room')
  t.match(opened.flat(), [/room with this id already/])
})

t.test('opening or joining a room leaves the previous one', async (t) => {
  const { owner, guest } = await openPair(t)
  await guest.ask('open-room', roomData(newRoom(), 'b', game))
  await untilTold(owner, ['a'])
  t.match(await guest.ask('join-room', roomData('nowhere', 'b', game)), [/does not exist any more/])
  await until(async () => (await app.pg.query("select 1 from netplay_players where player_id = 'b' and socket_id = $1",
    [guest.socket.id])).rowCount === 0, 'it is in none')
})

t.test('incomplete requests are refused, and missing values have defaults', async (t) => {
  const peer = await peerOf(t, app, alice)
  for (const data of [undefined, null, 'text', [], {}, { extra: {} }, { extra: { sessionid: 'x' } }, { extra: { userid: 'x' } },
    { extra: { sessionid: '', userid: 'x' } }, { extra: { sessionid: { a: 1 }, userid: 'x' } },
    { extra: { sessionid: 'x'.repeat(1_000), userid: 'x' } }, { extra: { sessionid: 'a\0b', userid: 'x' } }]) {
    for (const event of ['open-room', 'join-room'] as const) t.match(await peer.ask(event, data), [/\S/], JSON.stringify(data))
  }
  const id = newRoom()
  t.same(await peer.ask('open-room', { extra: { sessionid: id, playerId: 7, game_id: game }, maxPlayers: 'many' }), [])
  t.same(await findRoom(id), { room_name: `Room ${id}`, current: 1, max: 4, player_name: 'Player 7', hasPassword: false })
  const odd = 'line\nfeed __proto__ "'
  await peer.ask('open-room', roomData(odd, '__proto__', game, { maxPlayers: 0 }))
  t.match(await findRoom(odd), { max: 4 }, 'any id is a key')
})

t.test('events are relayed only to players in the same room', async (t) => {
  const { owner, guest } = await openPair(t)
  const { rows: [row] } = await app.pg.query<{ id: number }>("select id from users where username = 'bob'")
  const outsider = await peerOf(t, app, alice)
  for (const event of ['data-message', 'snapshot', 'input']) outsider.socket.emit(event, 'from outside')
  outsider.socket.emit('webrtc-signal', { target: guest.socket.id, offer: 'from outside' })
  const strange = await openPair(t)
  for (const target of [guest.socket.id, userRoom(row?.id ?? 0), `netplay:${strange.id}`, 7, null, {}]) {
    strange.owner.socket.emit('webrtc-signal', { target, offer: 'from outside' })
  }
  // Written directly to the socket, because the client library cannot serialize this depth.
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  owner.socket.io.engine.write(`2["data-message",${deep}]`)
  owner.socket.io.engine.write(`2["webrtc-signal",{"target":"${guest.socket.id}","offer":${deep}}]`)
  owner.socket.emit('snapshot', [Buffer.alloc(600_000), Buffer.alloc(600_000)])
  owner.socket.emit('data-message', 'last')
  strange.owner.socket.emit('data-message', 'last there')
  await until(() => guest.heard('data-message').length === 1 && strange.guest.heard('data-message').length === 1, 'what comes last')
  t.same(guest.heard('data-message'), ['last'], 'what is too deep is dropped')
  for (const one of [guest, strange.guest]) t.same([...one.heard('webrtc-signal'), ...one.heard('snapshot'), ...one.heard('input')], [])
})

t.test('the size of a payload includes everything in it', async (t) => {
  t.doesNotThrow(() => fc.assert(fc.property(fc.jsonValue({ maxDepth: 8 }), (value) =>
    Number.isFinite(sizeOf(value)) && isRelayable(value)), { numRuns: 50 }))
  t.equal(isRelayable({ a: 'x'.repeat(1_000_000) }), false)
  t.equal(isRelayable([Buffer.alloc(999_999)]), true)
})

t.test("signing out ends a user's game at once on every worker", async (t) => {
  const carol = await logIn('carol')
  const [id, guest] = [newRoom(), await peerOf(t, other, bob)]
  const [owner, second] = [await peerOf(t, app, carol), await peerOf(t, other, carol)]
  await owner.ask('open-room', roomData(id, 'c', game, { maxPlayers: 3 }))
  await guest.ask('join-room', roomData(id, 'b', game))
  await second.ask('join-room', roomData(id, 'c2', game))
  await untilTold(guest, ['c', 'b', 'c2'])
  t.equal((await app.inject({ method: 'POST', url: '/api/logout', headers: carol.headers })).statusCode, 200)
  await until(() => !owner.socket.connected && !second.socket.connected, 'both are closed')
  await untilTold(guest, ['b'])
  t.ok(guest.socket.connected)
})

t.test('a disabled account has no rights, and its sockets are closed', async (t) => {
  const [dora, peer] = [await logIn('dora'), await peerOf(t, app, bob)]
  const { owner, guest } = { owner: await peerOf(t, other, dora), guest: await peerOf(t, app, dora) }
  const id = newRoom()
  await owner.ask('open-room', roomData(id, 'd', game))
  await peer.ask('join-room', roomData(id, 'b', game))
  await untilTold(peer, ['d', 'b'])
  // The answer proves that the server knows whose socket it is; else nothing would close it.
  t.same(await guest.ask('open-room', roomData(newRoom(), 'd', game)), [], 'no error')
  await app.pg.query("update users set enabled = false where username = 'dora'")
  // The identity of a socket may be cached for a moment, and a periodic check of all sockets may close this one.
  const isRefused = async () =>
    /^Not authorized|^Disconnected/.test(String((await guest.ask('open-room', roomData(newRoom(), 'd', game)))[0]))
  await until(isRefused, 'it is refused')
  await app.pg.query("update users set enabled = true where username = 'dora'")
  const { rows: [row] } = await app.pg.query<{ id: number }>("select id from users where username = 'dora'")
  const reply = await app.inject({
    method: 'PUT', url: `/api/users/${row?.id}`, headers: { ...admin, 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'enabled=false'
  })
  t.equal(reply.statusCode, 200)
  await until(() => !owner.socket.connected && !guest.socket.connected, 'they are closed')
  await untilTold(peer, ['b'])
})

t.test('players of a dead worker are removed from their rooms', async (t) => {
  const { id, guest } = await openPair(t, { maxPlayers: 4 })
  const ghost = newRoom()
  // Counted first, because the workers also look for lost players by themselves.
  const told = guest.heard('users-updated').length
  await app.pg.query("insert into netplay_players (room_id, socket_id, player_id, player_name, worker) values ($1, 'lost', 'z', 'Z', 'of a dead one')", [id])
  await app.pg.query("insert into netplay_rooms (id, name, game_id, max_players) values ($1, 'Ghosts', $2, 4)", [ghost, String(game)])
  await app.pg.query("insert into netplay_players (room_id, socket_id, player_id, player_name, worker) values ($1, 'lost too', 'y', 'Y', 'of a dead one')", [ghost])
  t.match(await findRoom(id), { current: 2 }, 'it does not count')
  t.equal(await findRoom(ghost), undefined)
  await app.netplay.dropLost()
  await until(() => guest.heard('users-updated').length > told, 'those who are left are told')
  await untilTold(guest, ['a', 'b'])
  await until(async () => (await app.pg.query('select 1 from netplay_rooms where id = $1', [ghost])).rowCount === 0, 'the room is gone')
  const peer = await peerOf(t, app, alice)
  t.same(await peer.ask('open-room', roomData(ghost, 'a', game)), [], 'its id is free')
})

t.test('rooms are listed to callers with roms.read or assets.read who see the game', async (t) => {
  const tokenOf = async (scopes: string[]) => (await app.inject({
    method: 'POST', url: '/api/client-tokens', headers: { authorization: alice.authorization }, payload: { name: scopes.join(), scopes }
  })).json<{ raw_token: string }>().raw_token
  for (const [scope, status] of [['roms.read', 200], ['assets.read', 200], ['me.read', 403]] as const) {
    t.equal((await listRooms(game, { authorization: `Bearer ${await tokenOf([scope])}` })).statusCode, status, scope)
  }
  t.equal((await app.inject({ url: '/api/netplay/list', headers: admin })).statusCode, 422)
  t.equal((await listRooms('x')).statusCode, 404)
  t.equal((await listRooms(game, {})).statusCode, 401)
})

t.test('a socket that floods the endpoint is disconnected', async (t) => {
  const noisy = await peerOf(t, app, alice)
  for (let count = 0; count < 300; count++) noisy.socket.emit('input', count)
  await until(() => !noisy.socket.connected, 'it is closed')
})
