import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import pg from 'pg'
import { storeClockDifference } from '../database/clock.ts'
import { REQUEST_LIMITS } from '../database/database.ts'
import { ApiError, StartError } from '../errors.ts'
import type { Host } from '../host.ts'
import { VERSION } from '../version.ts'
import { createHostAddresses } from './host-addresses.ts'
import { type Locks, createLocks, tryLock } from './locks.ts'

/** The roles of a server's processes. */
export type ServerRole = 'web' | 'worker'
/** A command uses the services of the features; it answers no requests and runs no jobs. */
export type Role = ServerRole | 'command'

declare module 'fastify' {
  interface FastifyInstance {
    workers: Locks & {
      /** The id of this process, unique among all that ever ran. */
      id: string
      /** True if a process of this role is alive. */
      isAlive (role: Role): Promise<boolean>
      /**
       * Waits for a scan worker that is starting: under `svc start` the first one, or a replacement.
       *
       * @throws ApiError UNAVAILABLE if there is none.
       */
      requireScanWorker(): Promise<void>
      /** Returns the internal address of a live host; null if it has none, and undefined if it is not alive. */
      findAddress (hostId: string): Promise<string | null | undefined>
      /** Returns the ids of all live processes. */
      listAlive (): Promise<string[]>
      /**
       * Ends this process so that it is started again, because it lost a connection that it needs. A web worker serves
       * what it can until the database is back, and finishes its requests.
       */
      restart (reason: Error): void
      /** Closes this process, which then ends. A scan worker returns its tasks to the queue. */
      retire (): void
      /** Calls `listener` for each notification on a channel of the database, as long as this process lives. */
      listen (channel: string, listener: (payload: string) => void): Promise<void>
    }
  }
}

const { connectionTimeoutMillis: CONNECT_MS } = REQUEST_LIMITS
const HEARTBEAT_MS = 2_000
const FINISH_MS = 5_000
const RETRY_MS = 200
/** The longest start of a scan worker, on a slow machine. */
const WORKER_START_MS = 15_000
const NO_SCAN_WORKER = 'No scan worker is running. Start one with svc worker, or the whole server with svc start.'
/** EX_TEMPFAIL of sysexits.h: it may work later. */
const TEMPORARY = 75
/** A process that holds its lock but was silent for this long counts as hung. */
const SILENT_SECONDS = 20
/** First half of the advisory locks that live processes hold: an arbitrary number reserved for this server. */
const LOCK_CLASS = 736_413
/**
 * A table expression of live processes as `w`. The database session of a live process holds its advisory lock, which is
 * released the moment the process dies. Its row was updated lately; a stale row means that the process hangs.
 */
export const ALIVE_WORKERS = `workers w join pg_locks l on l.locktype = 'advisory' and l.classid = ${LOCK_CLASS}
  and l.objid = (hashtext(w.id)::bigint & 4294967295)::oid and l.granted
  and l.database = (select oid from pg_database where datname = current_database())
  and w.seen_at > now() - interval '${SILENT_SECONDS} seconds'`
const ALIVE = `select w.id, w.host_id, w.address from ${ALIVE_WORKERS}`

/** Waits until a database accepts connections, however long it takes. */
async function waitForDatabase (url: string): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS })
    client.on('error', () => { /* the next attempt reports it */ })
    try {
      await client.connect()
      await client.end()
      return
    } catch {
      // The database is down, or still recovering.
      await sleep(RETRY_MS)
    }
  }
}

interface WorkersOptions {
  url: string
  role: Role
  /** True if a supervisor restarts processes that end. */
  isSupervised: boolean
  host: Host
}

/** Closes the process. Requests that are not answered in time are cut off. */
async function finish (app: FastifyInstance): Promise<void> {
  setTimeout(() => { process.exit(TEMPORARY) }, FINISH_MS).unref()
  await app.close()
}

async function isAlive (app: FastifyInstance, role: Role): Promise<boolean> {
  const { rowCount } = await app.db.query(`${ALIVE} where w.role = $1 limit 1`, [role])
  return rowCount === 1
}

async function loadAddresses (app: FastifyInstance): Promise<Map<string, string | null>> {
  const { rows } = await app.db.query<{ host_id: string, address: string | null }>(ALIVE)
  return new Map(rows.map(({ host_id: id, address }) => [id, address]))
}

async function requireScanWorker (app: FastifyInstance, isSupervised: boolean): Promise<void> {
  const deadline = performance.now() + (isSupervised ? WORKER_START_MS : 0)
  while (!await isAlive(app, 'worker')) {
    if (performance.now() >= deadline) throw new ApiError('UNAVAILABLE', NO_SCAN_WORKER)
    await sleep(RETRY_MS)
  }
}

export default fp<WorkersOptions>(async (app, { url, role, isSupervised, host }) => {
  const id = `${hostname()}:${process.pid}:${randomUUID()}`
  const session = new pg.Client({
    connectionString: url, application_name: `svc-${role}`, keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS
  })
  let isConnected = false
  let isClosing = false
  let isRestarting = false
  let timer: NodeJS.Timeout | undefined

  session.on('error', restart)

  function restart (err: Error): void {
    if (isClosing || isRestarting) return
    isRestarting = true
    app.log.fatal({ err }, 'the database connection was lost; this process ends and is restarted')
    // From now on another process runs its tasks.
    if (role === 'worker') process.exit(TEMPORARY)
    waitForDatabase(url).then(() => finish(app)).catch((failure: unknown) => {
      app.log.error({ err: failure }, 'the process could not be closed cleanly')
    }).finally(() => { process.exit(TEMPORARY) })
  }

  function retire (): void {
    if (isClosing || isRestarting) return
    isRestarting = true
    finish(app).catch((err: unknown) => {
      app.log.error({ err }, 'the process could not be closed cleanly')
    }).finally(() => { process.exit(TEMPORARY) })
  }

  async function storeHeartbeat (): Promise<void> {
    const before = Date.now()
    const { rows: [measured] } = await session.query<{ now: number }>(`update workers set seen_at = now(),
      clock_ahead_ms = greatest(least($2 - extract(epoch from clock_timestamp()) * 1000, 2000000000), -2000000000) where id = $1
      returning extract(epoch from clock_timestamp())::float8 * 1000 as now`, [id, before])
    if (measured !== undefined) storeClockDifference({ before, database: measured.now, after: Date.now() })
  }

  app.decorate('workers', {
    id,
    restart,
    retire,
    isAlive: (role) => isAlive(app, role),
    requireScanWorker: () => requireScanWorker(app, isSupervised),
    findAddress: createHostAddresses(() => loadAddresses(app)),
    listAlive: async () => (await app.db.query<{ id: string }>(ALIVE)).rows.map((row) => row.id),
    ...createLocks(session, app, id),
    listen: async (channel: string, listener: (payload: string) => void) => {
      session.on('notification', (notice) => { if (notice.channel === channel) listener(notice.payload ?? '') })
      await session.query(`listen ${session.escapeIdentifier(channel)}`)
    }
  })

  app.addHook('onReady', async () => {
    await session.connect()
    isConnected = true
    if (!await tryLock(session, LOCK_CLASS, id)) throw new StartError('Another process has the same identity; start again.')
    await session.query("delete from workers where seen_at < now() - interval '1 day'")
    await session.query('insert into workers (id, role, host_id, host_name, release, address) values ($1, $2, $3, $4, $5, $6)',
      [id, role, host.id, hostname(), VERSION, host.address])
    await storeHeartbeat()
    timer = setInterval(() => {
      storeHeartbeat().catch((err: unknown) => { app.log.error({ err }, 'the heartbeat of the process could not be stored') })
    }, HEARTBEAT_MS)
  })

  app.addHook('onClose', async () => {
    isClosing = true
    clearInterval(timer)
    // A session that failed before was never connected, and a statement would wait for a connection for ever.
    if (!isConnected) return
    await session.query('delete from workers where id = $1', [id]).catch((err: unknown) => {
      app.log.debug({ err }, 'the row of the process could not be deleted; its lock is released nevertheless')
    })
    await session.end()
  })
}, { name: 'workers', fastify: '5.x', dependencies: ['database'] })
