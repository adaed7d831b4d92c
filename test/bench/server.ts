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
  /** Each is one round trip: begin and commit count as well. */
  statements: number
  /** Those of them that carry events, of which there are so many per second however many ROMs there are. */
  notifications: number
  transactions: number
  /** Of the scan worker, in MiB; null where they cannot be told. */
  memory: { before: number | null, peak: number | null }
  /** Of the process that hashes. */
  hashingPeak: number | null
  /**
   * Seconds the processors worked for the scan worker and the process that hashes: unlike the time it took, almost the
   * same on a busy machine.
   */
  processorSeconds: number | null
  /** Events that a connected client got. */
  events: number
  /** Of those who listened besides. */
  delays: Delays
}

export interface ServerOptions {
  /** Whether work begins as soon as the server answers; else when all of its processes are there. */
  isVeryFirst?: boolean
  /** Sockets that listen besides the one that waits for the end. */
  listeners?: number
}

export interface BenchServer {
  databaseUrl: string
  scan (payload: object): Promise<ScanMeasure>
}

interface Ended extends Pick<ScanMeasure, 'seconds' | 'stats' | 'problems'> { status: string, error: string | null }

const ADMIN = { SVC_ADMIN_USERNAME: 'bench', SVC_ADMIN_PASSWORD: 'bench-only' }
const CREDENTIALS = `${ADMIN.SVC_ADMIN_USERNAME}:${ADMIN.SVC_ADMIN_PASSWORD}`
const AUTHORIZATION = `Basic ${Buffer.from(CREDENTIALS).toString('base64')}`
/** Starting takes long where much else runs. */
const PATIENCE_MS = 180_000
/** Of all processes of the server. What a backend did in its last second may be missing from the transactions. */
const COUNTS = `select (d.xact_commit + d.xact_rollback)::float8 as transactions, s.*
  from pg_stat_database d cross join lateral (
    select coalesce(sum(calls), 0)::float8 as statements,
      coalesce(sum(calls) filter (where query ilike 'select pg_notify%'), 0)::float8 as notifications
    from pg_stat_statements where toplevel and dbid = d.datid
  ) s where d.datname = current_database()`
const ENDED = `select status, error, extract(epoch from ended_at - started_at)::float8 as seconds,
    coalesce(meta -> 'scan_stats', '{}') as stats, coalesce((meta ->> 'problem_count')::int, 0) as problems
  from tasks where id = $1 and ended_at is not null`

/** The embedded database with the server's own settings, of which none is relaxed, and a module that counts. */
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

/** Runs `svc start` with one web worker and a scan worker, for as long as `work` takes. */
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
      scan: async (payload) => await measureScan({ url, workerPid, client, server, listeners }, payload)
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
  // The scan worker is the last to come.
  if (answer.status === 503) return null
  const body: unknown = await answer.json()
  const id: unknown = Reflect.get(body ?? {}, 'task_id')
  if (typeof id !== 'string') throw new Error(`The scan was refused with ${answer.status}: ${JSON.stringify(body)}`)
  return id
}

async function readCounts (client: pg.Client) {
  type Counts = Pick<ScanMeasure, 'statements' | 'notifications' | 'transactions'>
  const { rows: [row] } = await client.query<Counts>(COUNTS)
  if (row === undefined) throw new Error('The database does not count its statements')
  return row
}

/** As an app does it: asks by HTTP, and hears of the end by its socket. */
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
