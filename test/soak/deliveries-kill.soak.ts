import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OutgoingNotification } from '@svc/plugin-sdk'
import { pino } from 'pino'
import t from 'tap'
import { inTransaction } from '../../core/database/transaction.ts'
import { WAKE_EVENT } from '../../plugins/channels/delivery/delivery-rows.ts'
import { createQueue } from '../../plugins/channels/delivery/queue.ts'
import { listChildren, tryFetch } from '../e2e/server.ts'
import { until } from '../until.ts'
import { UNPACED } from '../plugins/channels/support.ts'
import { openDb } from '../open-db.ts'
import { AUTHORIZATION, type SoakServer, WAIT_MS, startServer } from './server.ts'

const NOTIFICATIONS = 1_000
const CHANNELS = 20
const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 2)
/** A channel delivers one at a time, so this many deliveries may arrive a second time after each kill. */
const IN_FLIGHT_MAX = CHANNELS

const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const dataDir = join(folder, 'data')

/** Installs a channel without a rate limit, so that a round takes seconds. All else is the same as for a webhook. */
async function installChannel (): Promise<void> {
  const modules = join(dataDir, 'plugins', 'node_modules')
  await mkdir(modules, { recursive: true })
  await symlink(UNPACED, join(modules, 'svc-channel-unpaced'), 'junction')
  await writeFile(join(dataDir, 'plugins', 'package.json'), JSON.stringify({ dependencies: { 'svc-channel-unpaced': '*' } }))
}

/** Number of arrivals of each delivery by its id. */
const arrived = new Map<string, number>()
const receiver: Server = createServer((request, response) => {
  const id = String(request.headers['webhook-id'])
  arrived.set(id, (arrived.get(id) ?? 0) + 1)
  request.resume().on('end', () => response.writeHead(204).end())
})
await new Promise<void>((resolve) => { receiver.listen(0, '127.0.0.1', resolve) })
t.teardown(() => {
  receiver.close()
  receiver.closeAllConnections()
})
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`

async function addChannels (server: SoakServer): Promise<void> {
  for (let channel = 0; channel < CHANNELS; channel++) {
    await until(async () => (await tryFetch(`${server.url}/api/notification-channels`, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'unpaced', name: `${channel}`, url: `${url}/${channel}` })
    }))?.status === 201, 'a channel', { ...server.command, ms: WAIT_MS })
  }
}

const createNotification = (id: number, created: string): OutgoingNotification => ({
  event: 'notification', id, kind: 'custom', level: 'info', title: `${id}`, body: '', url: null, data: {}, actor: null, created_at: created
})

/** Stores a notification once, even if the database is killed meanwhile and the commit, or only its answer, is lost. */
async function store (server: SoakServer, notification: OutgoingNotification): Promise<void> {
  await until(async () => {
    const { db, close } = await openDb(server.databaseUrl())
    const queue = createQueue({ db, log: pino({ level: 'silent' }) })
    try {
      await inTransaction(db, async (tx) => {
        const { rowCount } = await tx.query('insert into soak_stored (id) values ($1) on conflict do nothing', [notification.id])
        if (rowCount === 1) await queue.enqueue(tx, [{ user_id: 1, topic: 'custom', notification }])
      })
      // Awaited, because its connections are closed right after it.
      await db.query("select pg_notify($1, '')", [WAKE_EVENT])
      return true
    } catch {
      // The database was killed, or is not back yet, as this test provokes.
      return null
    } finally {
      await close().catch(() => { /* the connection never began */ })
    }
  }, 'a stored notification', { ...server.command, ms: WAIT_MS })
}

const VICTIMS = {
  'the scan worker': (server: SoakServer) => server.workerPid(),
  'a web process': (server: SoakServer) =>
    until(async () => (await listChildren(server.command.pid, 'web'))[0], 'a web process', { ...server.command, ms: WAIT_MS }),
  'the database': (server: SoakServer) => server.databasePid()
}

await installChannel()

await t.test('kill -9 of any process loses no delivery, and repeats only running ones', async (t) => {
  const server = await startServer(t, dataDir, join(folder, 'library'))
  await until(() => server.query('create table if not exists soak_stored (id int primary key)'), 'a table', server.command)
  await addChannels(server)
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [name, find] of Object.entries(VICTIMS)) {
      arrived.clear()
      await until(() => server.query('delete from soak_stored'), 'an empty table', { ...server.command, ms: WAIT_MS })
      const created = new Date().toISOString()
      const started = performance.now()
      let stored = 0
      const storing = (async () => {
        for (let id = 1; id <= NOTIFICATIONS; id++) {
          await store(server, createNotification(id, created))
          stored = id
        }
      })()
      await until(async () => stored > NOTIFICATIONS / 3 && arrived.size > 0, 'a third', { ...server.command, ms: WAIT_MS })
      const before = arrived.size
      process.kill(await find(server), 'SIGKILL')
      await storing
      const all = NOTIFICATIONS * CHANNELS
      await until(async () => arrived.size >= all, 'all of them', { ...server.command, ms: WAIT_MS }).catch(() => { /* counted below */ })
      await until(async () => (await server.query('select 1 from channel_deliveries'))?.length === 0, 'nothing that waits', { ...server.command, ms: WAIT_MS })
      // A delivery that ran when its worker died may still arrive a second time.
      await sleep(1_000)
      const times = [...arrived.values()].reduce((sum, count) => sum + count, 0)
      const what = `round ${round}, ${name} killed after ${before} of ${all}`
      t.equal(arrived.size, all, `${what}: ${all - arrived.size} lost`)
      t.ok(times - arrived.size <= IN_FLIGHT_MAX, `${what}: ${times - arrived.size} came twice`)
      t.comment(`${what}: ${all - arrived.size} lost, ${times - arrived.size} doubled, ${((performance.now() - started) / 1_000).toFixed(1)} s`)
    }
  }
  await server.stop()
})
