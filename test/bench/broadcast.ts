import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { migrate } from '../../core/database/database.ts'
import { migrateJobs } from '../../core/jobs/boss.ts'
import { WEB_FLAGS } from '../../core/process/node-flags.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { features } from '../../plugins/index.ts'
import type { ListenersOrder, Spread } from './broadcast-listeners.ts'
import type { BroadcastOrder, BroadcastServerOrder } from './broadcast-server.ts'
import { type Ends, withEnds } from './cleanup.ts'
import { type BenchOptions, createBench } from './options.ts'
import { readProcessorSeconds } from './process.ts'
import { report } from './report.ts'
import { median } from './statistics.ts'

/** Measures how evenly an event reaches many sockets, beside a minimal socket.io server, in turns. */
const SOCKETS = 1_000
const ORDER: BroadcastOrder = { events: 450, perSecond: 75 }
const ROUNDS = 3
const RATIO_MAX = 3

function start (script: string, order: object, ends: Ends): ChildProcess {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), [], { execArgv: WEB_FLAGS })
  ends.add(() => child.kill())
  child.once('exit', (code) => { if (code !== null && code > 0) throw new Error(`${script} ended with ${code}`) })
  child.send(order)
  return child
}

interface Measured extends Spread { processorMs: number }

/** Sends the events of one round to new sockets. */
async function measure (server: ChildProcess, port: number, ends: Ends): Promise<Measured> {
  const listeners = start('broadcast-listeners.ts', { port, sockets: SOCKETS, events: ORDER.events } satisfies ListenersOrder, ends)
  await once(listeners, 'message')
  const readSeconds = () => server.pid === undefined ? NaN : readProcessorSeconds(server.pid) ?? NaN
  const before = readSeconds()
  server.send(ORDER)
  await sleep(ORDER.events / ORDER.perSecond * 1_000)
  listeners.send('end')
  const [spread] = await once(listeners, 'message') as [Spread]
  const processorMs = (readSeconds() - before) * 1_000 / ORDER.events
  listeners.kill()
  return { ...spread, processorMs }
}

const options = createBench('broadcast', `measures events to ${SOCKETS} sockets`).parse().opts<BenchOptions>()
await withEnds(async (ends) => {
  const database = await startEmbeddedPostgres({ dataDir: join(ends.folder, 'db'), log: () => {} })
  ends.add(() => database.stop())
  ends.own(database.pid)
  await migrate({ url: database.url, poolSize: 1, ...await features.loadTables() })
  await migrateJobs(database.url, (err) => { throw err })
  const orders: BroadcastServerOrder[] = [
    { databaseUrl: database.url, dataDir: join(ends.folder, 'data') }, { databaseUrl: null, dataDir: '' }
  ]
  const servers = orders.map((order) => start('broadcast-server.ts', order, ends))
  const ports = await Promise.all(servers.map(async (server) => (await once(server, 'message') as [number])[0]))
  const all: Measured[][] = [[], []]
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [index, server] of servers.entries()) {
      const measured = await measure(server, ports[index] ?? 0, ends)
      process.stderr.write(`${round} of ${ROUNDS}, ${index === 0 ? 'server' : 'minimal program'}: ${JSON.stringify(measured)}\n`)
      all[index]?.push(measured)
    }
  }
  const [own, other] = all.map((rounds) => ({
    p50: median(rounds.map(({ p50 }) => p50)),
    p99: median(rounds.map(({ p99 }) => p99)),
    processorMs: median(rounds.map(({ processorMs }) => processorMs)),
    deliveries: median(rounds.map(({ deliveries }) => deliveries))
  }))
  if (own === undefined || other === undefined) return
  report({
    name: `Events to ${SOCKETS} sockets, ${ORDER.perSecond} a second`,
    figures: {
      'server, p50 / p99 ms after the first socket': `${own.p50.toFixed(1)} / ${own.p99.toFixed(1)}`,
      'server, ms of processor time for each event': own.processorMs,
      'minimal program, p50 / p99 ms after the first socket': `${other.p50.toFixed(1)} / ${other.p99.toFixed(1)}`,
      'minimal program, ms of processor time for each event': other.processorMs
    },
    targets: [
      { what: 'p99, server / minimal program', is: own.p99 / other.p99, most: RATIO_MAX },
      { what: 'events that arrived', is: own.deliveries, least: SOCKETS * ORDER.events }
    ],
    notes: []
  }, options)
})
