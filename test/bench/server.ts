import { join } from 'node:path'
import pg from 'pg'
import { io } from 'socket.io-client'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { type Command, listChildren, runSvc, settings, waitUntilListening } from '../e2e/server.ts'
import { superuserUrl } from '../superuser.ts'
import { until } from '../until.ts'
import { type Delays, openListeners } from './listeners.ts'
import { readMemory, readPeak, readPeakOfOthers, readProcessorSeconds, resetPeak } from './process.ts'

export interface ScanMeasure {
  seconds: number
  stats: Record<string, number>
  problems: number
  /** Number of statements. Each is one round trip, including begin and commit. */
  statements: number
  /** Statements that carry events. Their number per second is limited, whatever the number of ROMs. */
  notifications: number
  transactions: number
  /** Memory of the scan worker in MiB; null where that is unknown. */
  memory: { before: number | null, peak: number | null }
  /** Peak memory of the hashing process. */
  hashingPeak: number | null
  /**
   * Processor seconds of the scan worker and the hashing process. Unlike elapsed time they are almost the same on a
   * busy machine.
   */
  processorSeconds: number | null
  /** Number of events that a connected client received. */
  events: number
  /** Delays at the additional listeners. */
  delays: Delays
}

export interface ServerOptions {
  /** True if work begins as soon as the server answers; else it begins when all processes run. */
  isVeryFirst?: boolean
  /** Number of sockets that listen besides the one that waits for the end. */
  listeners?: number
}

export interface BenchServer {
  databaseUrl: string
  scan (payload: object): Promise<ScanMeasure>
  /** Starts a scan and returns the seconds until the list of all ROMs contains this many. */
  scanUntilListed (payload: object, roms: number): Promise<number>
}

interface Ended extends Pick<ScanMeasure, 'seconds' | 'stats' | 'problems'> { status: string, error: string | null }

const ADMIN = { SVC_ADMIN_USERNAME: 'bench', SVC_ADMIN_PASSWORD: 'bench-only' }
const CREDENTIALS = `${ADMIN.SVC_ADMIN_USERNAME}:${ADMIN.SVC_ADMIN_PASSWORD}`
const AUTHORIZATION = `Basic ${Buffer.from(CREDENTIALS).toString('base64')}`
/** The start takes long on a busy machine. */
const PATIENCE_MS = 180_000
/** Counts for all processes of the server. Transactions of a backend's last second may be missing. */
const COUNTS = `select (d.xact_commit + d.xact_rollback)::float8 as transactions, s.*
  from pg_stat_database d cross join lateral (
    select coalesce(sum(calls), 0)::float8 as statements,
      coalesce(sum(calls) filter (where query ilike 'select pg_notify%'), 0)::float8 as notifications
    from pg_stat_statements where toplevel and dbid = d.datid
  ) s where d.datname = current_database()`
const ENDED = `select status, error, extract(epoch from ended_at - started_at)::float8 as seconds,
    coalesce(meta -> 'scan_stats', '{}') as stats, coalesce((meta ->> 'problem_count')::int, 0) as problems
  from tasks where id = $1 and ended_at is not null`

/** Starts the embedded database with the server's unchanged settings, and a module that counts statements. */
async function startDatabase (dataDir: string): Promise<EmbeddedPostgres> {
  return await startEmbeddedPostgres({
    dataDir: join(dataDir, 'db'), log: () => {}, settings: { shared_preload_libraries: 'pg_stat_statements' }
  })
}

async function connect (url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create extension if not exists pg_stat_statements')
  return client
}

async function waitUntilReady (server: Command): Promise<void> {
  await until(async () => server.output().includes('is ready'), 'all processes', { ...server, ms: PATIENCE_MS })
}

async function findWorker (server: Command): Promise<number> {
  return await until(async () => (await listChildren(server.pid, 'worker'))[0], 'a scan worker', server)
}

/** Runs `svc start` with one web worker and a scan worker, while `work` runs. */
export async function withServer<T> (
  dataDir: string, libraryDir: string, work: (server: BenchServer) => Promise<T>,
  { isVeryFirst = false, listeners = 0 }: ServerOptions = {}
): Promise<T> {
  const ends: (() => unknown)[] = []
  const teardown = (end?: () => unknown) => { if (end !== undefined) ends.unshift(end) }
  try {
    const database = await startDatabase(dataDir)
    teardown(() => database.stop())
    const server = runSvc({ teardown }, ['start'], settings(dataDir, {
      ...ADMIN, SVC_DATABASE_URL: database.url, SVC_LIBRARY_DIR: libraryDir, WEB_SERVER_CONCURRENCY: '1', SVC_LOG_LEVEL: 'warn'
    }))
    const { url } = await waitUntilListening(server, dataDir, PATIENCE_MS)
    if (!isVeryFirst) await waitUntilReady(server)
    const workerPid = await findWorker(server)
    const client = await connect(superuserUrl(join(dataDir, 'db'), database.url))
    teardown(() => client.end())
    return await work({
      databaseUrl: database.url,
      scan: async (payload) => await measureScan({ url, workerPid, client, server, listeners }, payload),
      scanUntilListed: async (payload, roms) => {
        const started = performance.now()
        await until(() => requestScan(url, payload), 'a scan that is queued', server)
        await until(async () => await countListed(url) === roms, `a list of ${roms} ROMs`, { ...server, ms: PATIENCE_MS })
        return (performance.now() - started) / 1_000
      }
    })
  } finally {
    for (const end of ends) await end()
  }
}

interface Running { url: string, workerPid: number, client: pg.Client, server: Command, listeners: number }

async function requestScan (url: string, payload: object): Promise<string | null> {
  const answer = await fetch(`${url}/api/tasks/scan`, {
    method: 'POST', headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' }, body: JSON.stringify(payload)
  })
  // The scan worker is the last process to start.
  if (answer.status === 503) return null
  const body: unknown = await answer.json()
  const id: unknown = Reflect.get(body ?? {}, 'task_id')
  if (typeof id !== 'string') throw new Error(`The scan was refused with ${answer.status}: ${JSON.stringify(body)}`)
  return id
}

/** Returns the total of the list of all ROMs. */
async function countListed (url: string): Promise<unknown> {
  const answer = await fetch(`${url}/api/roms?limit=1`, { headers: { authorization: AUTHORIZATION } })
  return Reflect.get(await answer.json() as object, 'total')
}

async function readCounts (client: pg.Client) {
  type Counts = Pick<ScanMeasure, 'statements' | 'notifications' | 'transactions'>
  const { rows: [row] } = await client.query<Counts>(COUNTS)
  if (row === undefined) throw new Error('The database does not count its statements')
  return row
}

/** Measures a scan as an app does it: starts it by HTTP, and learns of its end by a socket. */
async function measureScan (running: Running, payload: object): Promise<ScanMeasure> {
  const { url, workerPid, client, server } = running
  const listeners = await openListeners(url, AUTHORIZATION, running.listeners)
  const socket = io(url, { path: '/ws/socket.io', transports: ['websocket'], extraHeaders: { authorization: AUTHORIZATION } })
  let events = 0
  const over = new Promise<void>((resolve, reject) => {
    socket.onAny((name: string) => {
      events++
      if (name === 'scan:done' || name === 'scan:done_ko') resolve()
    })
    void server.ended.then(({ output }) => { reject(new Error(`The server ended:\n${output}`)) })
  })
  try {
    await new Promise<void>((resolve) => socket.once('connect', resolve))
    await client.query('select pg_stat_statements_reset()')
    const before = await readCounts(client)
    const memoryBefore = readMemory(workerPid)
    const processorBefore = readProcessorSeconds(workerPid)
    resetPeak(workerPid)
    const id = await until(() => requestScan(url, payload), 'a scan that is queued', server)
    await over
    const peak = readPeak(workerPid)
    const hashingPeak = readPeakOfOthers(workerPid)
    const processor = readProcessorSeconds(workerPid)
    const after = await readCounts(client)
    const { rows: [ended] } = await client.query<Ended>(ENDED, [id])
    if (ended?.status !== 'finished') throw new Error(`The scan did not finish: ${ended?.error ?? 'it goes on'}\n${server.output()}`)
    return {
      seconds: ended.seconds,
      stats: ended.stats,
      problems: ended.problems,
      statements: after.statements - before.statements,
      notifications: after.notifications - before.notifications,
      transactions: after.transactions - before.transactions,
      memory: { before: memoryBefore, peak },
      hashingPeak,
      delays: listeners.read(),
      processorSeconds: processor === null || processorBefore === null ? null : processor - processorBefore,
      events
    }
  } finally {
    socket.disconnect()
    listeners.close()
  }
}
