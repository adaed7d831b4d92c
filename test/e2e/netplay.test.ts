import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { type Peer, connectPeer, roomData } from '../plugins/netplay-support.ts'
import { createTestDatabase } from '../support.ts'
import { until } from '../until.ts'
import { type Listening, createUsedDataDir, listChildren, runSvc, settings, tryFetch, waitUntilListening } from './server.ts'

const PASSWORD = 'a long password'

t.test('netplay with two web workers', async (t) => {
  // A folder of this test would be too deep for the path of a local socket.
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-e2e-'))
  t.teardown(() => { rmSync(dataDir, { recursive: true, force: true }) })
  createUsedDataDir(dataDir)
  const databaseUrl = await createTestDatabase(t)
  const server = runSvc(t, ['start'], settings(dataDir, {
    SVC_DATABASE_URL: databaseUrl, SVC_ADMIN_USERNAME: 'chief', SVC_ADMIN_PASSWORD: PASSWORD
  }))
  const { url }: Listening = await waitUntilListening(server, dataDir)
  await until(async () => (await listChildren(server.pid, 'web')).length === 2, 'two web workers', server)

  const authorization = `Basic ${Buffer.from(`chief:${PASSWORD}`).toString('base64')}`
  const login = await fetch(`${url}/api/login`, { method: 'POST', headers: { authorization } })
  const cookie = login.headers.getSetCookie().map((line) => line.split(';')[0]).join('; ')
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  t.teardown(() => database.end())
  await database.query("insert into platforms (id, slug, fs_slug, name) values (1, 'snes', 'snes', 'SNES')")
  await database.query(`insert into roms (id, platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext)
    values (7, 1, 'Kart.sfc', 'roms/snes', 'Kart', 'Kart')`)
  /** None while the request meets a worker that dies. */
  const listRooms = async () =>
    await (await tryFetch(`${url}/api/netplay/list?game_id=7`, { headers: { authorization } }))?.json() as Record<string, unknown> | undefined

  /** The process that holds a socket: its session's id names it. */
  const processOf = ({ socket }: Peer) => parseInt(String(Reflect.get(socket.io.engine, 'id')).split('-')[1] ?? '', 36)

  /** A peer whose socket is not in this process. */
  async function connectElsewhere (pid: number): Promise<Peer> {
    return await until(async () => {
      const peer = await connectPeer(t, url, cookie)
      if (processOf(peer) !== pid) return peer
      peer.socket.disconnect()
      return null
    }, 'a socket of the other worker')
  }

  await t.test('a client that polls plays with one that does not, whichever worker gets its requests', async (t) => {
    const polling = await connectPeer(t, url, cookie, 'polling')
    t.same(await polling.ask('open-room', roomData('polled', 'a', 7)), [])
    const other = await connectElsewhere(processOf(polling))
    t.match(await other.ask('join-room', roomData('polled', 'b', 7)), [null, { a: {}, b: {} }])
    for (let count = 0; count < 20; count++) polling.socket.emit('input', count)
    await until(() => other.heard('input').length === 20, 'all of it')
    other.socket.emit('data-message', Buffer.alloc(100_000, 1))
    await until(() => polling.heard('data-message').length === 1, 'the answer')
    t.ok(polling.socket.connected)
  })

  await t.test('who played by a worker that dies is gone from the room, and the next one owns it', async (t) => {
    const owner = await connectPeer(t, url, cookie)
    await owner.ask('open-room', roomData('orphaned', 'a', 7, { maxPlayers: 3 }))
    const guest = await connectElsewhere(processOf(owner))
    await guest.ask('join-room', roomData('orphaned', 'b', 7))
    const opener = await connectElsewhere(processOf(owner))
    process.kill(processOf(owner), 'SIGKILL')
    const room = await until(async () => {
      const found = (await listRooms())?.orphaned as { current: number, player_name: string } | undefined
      return found?.current === 1 && found
    }, 'the room has one player')
    t.equal(room.player_name, 'Name of b')
    t.same(await opener.ask('open-room', roomData('another', 'c', 7)), [])
    await until(() => Object.keys(guest.heard('users-updated').at(-1) as object).join() === 'b', 'who is left is told')
  })
})
