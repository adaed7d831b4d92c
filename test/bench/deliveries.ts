import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { OutgoingNotification } from '@svc/plugin-sdk'
import { pino } from 'pino'
import { Agent, request } from 'undici'
import { renderHeaders } from '../../channels/webhook/src/headers.ts'
import { renderPayload } from '../../channels/webhook/src/render.ts'
import { buildApp } from '../../core/app.ts'
import { migrate } from '../../core/database/database.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import type { App } from '../../core/typebox.ts'
import { UNREADABLE, sealSettings } from '../../plugins/channels/sealed-settings.ts'
import { features } from '../../plugins/index.ts'
import { loadConfig } from '../load-config.ts'
import { type Timing, time } from './process.ts'
import type { ReceiverReady } from './deliveries-receiver.ts'
import { type BenchOptions, createBench } from './options.ts'
import { type Measurement, report } from './report.ts'

/** Below the 60 deliveries a minute of a webhook channel, so the real rate limit applies and no delivery is folded. */
const EACH = 50
const CHANNELS = 100
/** Several users, because only a few channels of one user are delivered to at once. */
const USERS = 20
const CONCURRENCY = 32
const LEAST_PER_SECOND = 200
const SECRET = 'whsec_YmVuY2gtYmVuY2gtYmVuY2gtYmVuY2g='
const TOTAL = EACH * CHANNELS

const createNotification = (index: number): OutgoingNotification => ({
  event: 'notification',
  id: index,
  kind: 'scan_completed',
  level: 'success',
  title: 'Scan completed',
  body: `${index} new games`,
  url: 'https://games.example.org/scan',
  data: { scanned_roms: 214, new_roms: index, identified_roms: 210, new_platforms: 0 },
  actor: null,
  created_at: new Date().toISOString()
})
const notifications = Array.from({ length: EACH }, (_none, index) => createNotification(index + 1))

async function startReceiver (): Promise<{ child: ChildProcess, url: string }> {
  const child = fork(fileURLToPath(new URL('deliveries-receiver.ts', import.meta.url)))
  const [ready] = await once(child, 'message') as [ReceiverReady]
  return { child, url: ready.url }
}

/** Posts the same bodies with the same headers in a loop. Deliveries cannot be faster than this. */
async function postBare (url: string): Promise<void> {
  const agent = new Agent({ connections: CONCURRENCY })
  const channels = Array.from({ length: CHANNELS }, (_none, index) => index)
  const work = notifications.flatMap((one) => channels.map((channel) => [channel, one] as const))
  async function post (): Promise<void> {
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      const [channel, notification] = next
      const settings = { url: `${url}/${channel}`, secret: SECRET }
      const body = renderPayload(notification)
      const headers = renderHeaders(notification, body, settings, Date.now())
      const answer = await request(settings.url, { method: 'POST', headers, body, dispatcher: agent })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, post))
  await agent.close()
}

async function addChannels (app: App, paths: readonly string[], url: string): Promise<void> {
  const sealed = paths.map((path) =>
    sealSettings(app.secrets, { settings: { url: `${url}/${path}`, secret: SECRET }, view: UNREADABLE, destination: '' }))
  await app.pg.query(`insert into notification_channels (user_id, type, name, sealed, confirmed)
    select u.id, 'webhook', 'bench', s.sealed, true from unnest($1::text[]) with ordinality as s (sealed, place)
    join (select id, row_number() over (order by id) - 1 as place from users) u on u.place = s.place % ${USERS}`, [sealed])
}

const countWaiting = async (app: App) => Number((await app.pg.query<{ count: string }>(`select count(*) from channel_deliveries d
  join notification_channels c on c.id = d.channel_id where c.name = 'bench'`)).rows[0]?.count)

/** Measures from the transaction that queues all deliveries until the last one is stored as delivered. */
async function deliverAll (app: App): Promise<void> {
  const { rows: users } = await app.pg.query<{ id: number }>('select id from users')
  const items = notifications.flatMap((notification) =>
    users.map(({ id }) => ({ user_id: id, topic: 'scans', notification })))
  await inTransaction(app.db, (tx) => app.channels.enqueue(tx, items))
  app.channels.wake()
  while (await countWaiting(app) > 0) await sleep(100)
}

const perSecond = ({ seconds }: Timing) => TOTAL / seconds
const forgetChannels = (app: App) => app.pg.query('delete from notification_channels')

async function measure (app: App, url: string): Promise<Measurement> {
  const paths = Array.from({ length: CHANNELS }, (_none, index) => String(index))
  await postBare(url)
  const bare = await time(() => postBare(url))
  await addChannels(app, paths, url)
  const delivered = await time(() => deliverAll(app))
  await forgetChannels(app)
  await addChannels(app, paths, url)
  await addChannels(app, ['dead'], url)
  await app.pg.query("update notification_channels set name = 'dead' where id = (select max(id) from notification_channels)")
  const besideDead = await time(() => deliverAll(app))
  await forgetChannels(app)
  const bareAgain = await time(() => postBare(url))
  const bareBest = Math.max(perSecond(bare), perSecond(bareAgain))
  return {
    name: `${TOTAL} webhook deliveries to ${CHANNELS} channels`,
    figures: {
      'deliveries per second': perSecond(delivered),
      'bare undici loop, posts per second': bareBest,
      'deliveries, share of the bare loop': perSecond(delivered) / bareBest,
      'processor seconds of the worker for 1,000': delivered.processorSeconds / TOTAL * 1_000,
      'processor seconds of the bare loop for 1,000': bare.processorSeconds / TOTAL * 1_000,
      'beside a channel that never answers, per second': perSecond(besideDead)
    },
    targets: [
      { what: 'deliveries per second', is: perSecond(delivered), least: LEAST_PER_SECOND },
      { what: 'speed beside a dead channel', is: perSecond(besideDead) / perSecond(delivered), least: 0.8 }
    ],
    notes: []
  }
}

const options = createBench('deliveries', 'measures how fast webhooks are delivered').parse().opts<BenchOptions>()
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const ends: (() => unknown)[] = [() => { rmSync(folder, { recursive: true, force: true }) }]
try {
  if (options.json !== true) process.stdout.write(`${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), load ${loadavg()[0]?.toFixed(2)}, node ${process.version}\n\n`)
  const database = await startEmbeddedPostgres({ dataDir: join(folder, 'db'), log: () => {} })
  ends.unshift(() => database.stop())
  const { config } = loadConfig({ SVC_DATA_DIR: folder, SVC_AUTH_SECRET_KEY: 'a key for benchmarks only' })
  await migrate({ url: database.url, poolSize: 1, ...await features.loadTables() })
  const receiver = await startReceiver()
  ends.unshift(() => { receiver.child.disconnect() })
  const app = await buildApp({ config, role: 'worker', databaseUrl: database.url, logger: pino({ level: 'error' }), features })
  ends.unshift(() => app.close())
  await app.ready()
  for (let user = 0; user < USERS; user++) {
    await app.users.create({ username: `bench${user}`, password: 'a password', email: '', role: 'admin' })
  }
  report(await measure(app, receiver.url), options)
} finally {
  for (const end of ends) await end()
}
