import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Socket, io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { tryFetch } from '../e2e/server.ts'
import { until } from '../until.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { type Pair, startPair } from './postgres-pair.ts'
import { createRandom } from './random.ts'
import { AUTHORIZATION, WAIT_MS } from './server.ts'
import { type Visitors, startVisitors } from './visitors.ts'

// Two web hosts and a scan worker behind HAProxy, on PostgreSQL with a synchronous standby that takes over.

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 2)
const SEED = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)
const VISITORS = 6
const SOCKETS = 12
const PLATFORMS = ['snes', 'nes', 'gb']
/** Files of each platform in each round, so that a scan takes seconds. */
const FILES = 400
/**
 * The longest times that requests and sockets may fail, by the way in which the primary ends. A process notices after
 * 12 seconds that a machine without power does not answer.
 */
const OUTAGE_MS = { kill: 30_000, vanish: 45_000 }
/** The time for which the standby is away, longer than a process waits for an answer of its database. */
const AWAY_MS = 40_000
/** The pause between two further writes, and the most sessions that may wait for the standby. */
const WRITE_MS = 400
const WAITING_MAX = 45
/** The longest time for which the standby gets nothing before the primary ends. */
const PARTED_MAX_MS = 2_000
const WAYS = ['kill', 'vanish'] as const

const random = createRandom(SEED)
const folder = await mkdtemp(join(tmpdir(), 'svc-standby-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const library = join(folder, 'library')
t.comment(`SOAK_SEED=${SEED} SOAK_ROUNDS=${ROUNDS}`)

async function addFiles (round: number): Promise<void> {
  for (const platform of PLATFORMS) {
    await mkdir(join(library, 'roms', platform), { recursive: true })
    for (let file = 0; file < FILES; file++) {
      await writeFile(join(library, 'roms', platform, `Game ${round}-${file}.rom`), `${platform} ${round}-${file}`)
    }
  }
}

function connectSockets (t: Test, url: string): Socket[] {
  const sockets = Array.from({ length: SOCKETS }, (_none, index) => io(url, {
    path: '/ws/socket.io', transports: [index % 2 === 0 ? 'polling' : 'websocket'], forceNew: true, reconnectionDelayMax: 1_000
  }))
  t.teardown(() => { for (const socket of sockets) socket.disconnect() })
  return sockets
}

interface Running { pair: Pair, cluster: Cluster, visitors: Visitors }

/** Fails the primary while everything works, and promotes the standby. */
async function failOver (t: Test, { pair, cluster, visitors }: Running, way: typeof WAYS[number]): Promise<void> {
  const { output } = cluster
  const sockets = connectSockets(t, cluster.url)
  const areConnected = () => sockets.every(({ connected }) => connected)
  await until(areConnected, 'the sockets', { output, ms: WAIT_MS })
  let lost = 0
  let lostAt = Infinity
  for (const socket of sockets) {
    socket.on('disconnect', () => {
      lost++
      lostAt = Math.min(lostAt, performance.now())
    })
  }
  const starts = cluster.hosts.map((host) => host.starts())
  const scan = await cluster.startScan()
  await sleep(random() * 3_000)
  const before = visitors.written()
  const failedAt = performance.now()
  // A commit that does not wait for the standby would be lost.
  await pair.part()
  await sleep(random() * PARTED_MAX_MS)
  await pair.fail(way)
  await sleep(random() * 3_000)
  await pair.promote()
  const promotedAt = performance.now()
  await until(() => visitors.written() > before + VISITORS, 'saves after the failover', { output, ms: WAIT_MS })
  const savedAt = performance.now()
  // Every process of the cluster lost its session, and is started again.
  const areRestarted = () => cluster.hosts.every((host, index) => host.starts() > (starts[index] ?? 0))
  await until(areRestarted, 'new processes', { output, ms: WAIT_MS })
  const restartedAt = performance.now()
  await until(() => lost >= SOCKETS && areConnected(), 'all sockets again', { output, ms: WAIT_MS })
  const connectedAt = performance.now()
  await cluster.waitForScan(t, scan)
  const seconds = (since: number, until: number) => ((until - since) / 1_000).toFixed(1)
  t.comment(`${way}: promoted after ${seconds(failedAt, promotedAt)} s, saves ${seconds(promotedAt, savedAt)} s later, new processes ` +
    `${seconds(promotedAt, restartedAt)} s later, all sockets ` +
    `${seconds(promotedAt, connectedAt)} s later after ${seconds(lostAt, connectedAt)} s, the scan ended ${seconds(promotedAt, performance.now())} s later`)
  t.ok(connectedAt - lostAt < OUTAGE_MS[way], 'sockets are back in time')
  for (const socket of sockets) socket.disconnect()
}

/** Parts the standby for longer than a process waits for its database, while visitors write. */
async function partStandby (t: Test, { pair, cluster, visitors }: Running): Promise<void> {
  const starts = cluster.hosts.map((host) => host.starts())
  const join = await pair.part()
  const partedAt = performance.now()
  const statuses: (number | undefined)[] = []
  let waiting = 0
  const writes: Promise<unknown>[] = []
  const write = () => writes.push(tryFetch(`${cluster.url}/api/collections`, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `Collection ${writes.length}` })
  }))
  const writing = setInterval(write, WRITE_MS)
  while (performance.now() < partedAt + AWAY_MS) {
    statuses.push((await tryFetch(`${cluster.url}/api/roms?limit=5`, { headers: { authorization: AUTHORIZATION } }))?.status)
    const [sessions] = await pair.query<{ count: number }>("select count(*)::int from pg_stat_activity where wait_event = 'SyncRep'")
    waiting = Math.max(waiting, sessions?.count ?? 0)
    await sleep(200)
  }
  clearInterval(writing)
  t.ok(waiting <= WAITING_MAX, `at most ${waiting} of ${writes.length} writes waited for the standby at once`)
  t.same(statuses.filter((status) => status !== 200), [], 'reads go on without the standby')
  const before = visitors.written()
  join()
  await Promise.all(writes)
  await until(() => visitors.written() > before + VISITORS, 'saves with the standby', { output: cluster.output, ms: WAIT_MS })
  t.same(cluster.hosts.map((host) => host.starts()), starts, 'no process ended')
}

t.test('a promoted standby has every acknowledged save, and the cluster recovers', async (t) => {
  const pair = await startPair(t, folder)
  await addFiles(0)
  const cluster = await startCluster(t, { folder, library, databaseUrl: pair.url })
  await cluster.waitForScan(t, await cluster.startScan())
  const rows = await pair.query<{ id: number }>(`select id from roms order by id limit ${VISITORS}`)
  const roms = rows.map(({ id }) => id)
  await t.test('while the standby is away, people read, and writes end in 503', async (t) => {
    const visitors = startVisitors({ url: cluster.url, seed: SEED, visitors: VISITORS, roms })
    await until(() => visitors.written() > VISITORS * 3, 'saves', { output: cluster.output, ms: WAIT_MS })
    await partStandby(t, { pair, cluster, visitors })
    await visitors.finish()
    t.same(visitors.ledger.findings, [])
    t.comment(`${visitors.written()} saves were acknowledged; answers ${JSON.stringify(visitors.ledger.answers)}`)
  })
  for (let round = 1; round <= ROUNDS; round++) {
    const way = WAYS[round % 2] ?? 'kill'
    await t.test(`round ${round}: ${way}`, async (t) => {
      await addFiles(round)
      const visitors = startVisitors({ url: cluster.url, seed: SEED + round, visitors: VISITORS, roms })
      await until(() => visitors.written() > VISITORS * 3, 'saves', { output: cluster.output, ms: WAIT_MS })
      await failOver(t, { pair, cluster, visitors }, way)
      await visitors.finish()
      t.same(visitors.ledger.findings, [])
      t.comment(`${visitors.written()} saves were acknowledged; answers ${JSON.stringify(visitors.ledger.answers)}; ` +
        `the longest wait took ${visitors.longestMs()} ms`)
      t.ok(visitors.longestMs() < OUTAGE_MS[way], `requests failed for ${visitors.longestMs()} ms`)
      const [count] = await pair.query<{ roms: number }>(
        "select count(*)::int as roms from roms where not missing_from_fs and sha1_hash <> ''")
      t.equal(count?.roms, PLATFORMS.length * FILES * (round + 1), 'each file is stored once, with its hash')
      await pair.addStandby()
    })
  }
  for (const host of cluster.hosts) await host.stop()
})
