import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import PQueue from 'p-queue'
import pg from 'pg'
import { KEEP_ALIVE, REQUEST_LIMITS, isWritable } from '../database/database.ts'
import type { Queryable } from '../database/db.ts'
import { ApiError, EXIT_CODES, StartError } from '../errors.ts'
import type { Host } from '../process/host.ts'
import { VERSION } from '../version.ts'
import { endStuckCommits } from './end-stuck-commits.ts'
import { SILENT_SECONDS, createHeartbeat } from './heartbeat.ts'
import { createHostAddresses } from './host-addresses.ts'
import { type Locks, createLocks, tryLock } from './locks.ts'
import { RESTING } from './rest.ts'

/** The roles of a server's processes. */
export type ServerRole = 'web' | 'worker'
/** A command uses the services of the features; it answers no requests and runs no jobs. */
export type Role = ServerRole | 'command'

declare module 'fastify' {
  interface FastifyInstance {
    workers: Locks & {
      /** The id of this process, unique among all that ever ran. */
      id: string
      /** True if a process of this role is alive. A resting scan worker counts as alive. */
      isAlive (role: Role): Promise<boolean>
      /** True if a scan worker rests, or starts again after it rested. */
      isResting (): Promise<boolean>
      /**
       * Waits for a scan worker that is starting: under `svc start` the first one, or a replacement.
       *
       * @throws ApiError UNAVAILABLE if there is none.
       */
      requireScanWorker(): Promise<void>
      /** Returns the error that no scan worker runs; null if one does. A resting scan worker does not run. */
      findAbsence (): Promise<ApiError | null>
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
      /**
       * Runs short statements one after the other on the database session of this process. They wait for locks at most
       * two seconds, because the heartbeat waits for them. Work that repeats at rest uses it, because a connection of
       * the pool takes up to 10 MB while it is open.
       */
      session: Queryable
      /** Calls `listener` for each notification on a channel of the database, as long as this process lives. */
      listen (channel: string, listener: (payload: string) => void): Promise<void>
    }
  }
}

const { connectionTimeoutMillis: CONNECT_MS } = REQUEST_LIMITS
const FINISH_MS = 5_000
const LOCK_MS = 2_000
const RETRY_MS = 200
/** The longest start of a scan worker, on a slow machine. */
export const WORKER_START_MS = 15_000
const NO_SCAN_WORKER = 'No scan worker is running.'
const START_ONE = 'Start one with svc worker, or the whole server with svc start.'
const STARTS_LATE = 'It did not start in time; try again later. The log of the server shows whether it cannot start, and why.'
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

/** True if a database accepts connections and writes. */
async function isReady (url: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url, connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS
  })
  client.on('error', () => { /* the next attempt reports it */ })
  try {
    await client.connect()
    return await isWritable(client)
  } catch {
    return false
  } finally {
    // Not awaited, because the end of a connection that no longer answers takes minutes.
    client.end().catch(() => { /* it was never open */ })
  }
}

/** Waits until a database accepts connections and writes, however long it takes. */
async function waitForDatabase (url: string): Promise<void> {
  while (!await isReady(url)) await sleep(RETRY_MS)
}

/** Runs one statement after the other on a connection, which the driver does not do for its users. */
function queueStatements (client: pg.Client) {
  const statements = new PQueue({ concurrency: 1 })
  return {
    query: <Row extends object>(text: string, values?: unknown[]) =>
      statements.add(() => client.query<Row>(text, values)),
    /** Waits for all statements, also for events that are published after others. */
    async finish (): Promise<void> {
      do {
        await statements.onIdle()
        await nextTurn()
      } while (statements.size + statements.pending > 0)
    }
  }
}

interface WorkersOptions {
  url: string
  role: Role
  /** True if a supervisor restarts processes that end. */
  isSupervised: boolean
  host: Host
  /** Changes with the secret key of the process. */
  keyDigest?: string | null
  /** The milliseconds since the start of the scan worker that this one replaces after a rest. */
  runningMs?: number
}

/** Closes the process. Requests that are not answered in time are cut off. */
async function finish (app: FastifyInstance): Promise<void> {
  setTimeout(() => { process.exit(EXIT_CODES.temporary) }, FINISH_MS).unref()
  await app.close()
}

async function isRunning (app: FastifyInstance, role: Role): Promise<boolean> {
  const { rowCount } = await app.db.query(`${ALIVE} where w.role = $1 limit 1`, [role])
  return rowCount === 1
}

const isAlive = async (app: FastifyInstance, role: Role): Promise<boolean> =>
  await isRunning(app, role) || (role === 'worker' && await app.workers.isResting())

async function loadAddresses (app: FastifyInstance): Promise<Map<string, string | null>> {
  const { rows } = await app.db.query<{ host_id: string, address: string | null }>(ALIVE)
  return new Map(rows.map(({ host_id: id, address }) => [id, address]))
}

const noScanWorker = (isSupervised: boolean): ApiError =>
  new ApiError('UNAVAILABLE', `${NO_SCAN_WORKER} ${isSupervised ? STARTS_LATE : START_ONE}`)

async function requireScanWorker (app: FastifyInstance, isSupervised: boolean): Promise<void> {
  const deadline = performance.now() + (isSupervised ? WORKER_START_MS : 0)
  while (!await isAlive(app, 'worker')) {
    if (performance.now() >= deadline) throw noScanWorker(isSupervised)
    await sleep(RETRY_MS)
  }
}

export default fp<WorkersOptions>(async (app, { url, role, isSupervised, host, keyDigest = null, runningMs = 0 }) => {
  const id = `${hostname()}:${process.pid}:${randomUUID()}`
  const client = new pg.Client({
    connectionString: url, application_name: `svc-${role}`, ...KEEP_ALIVE,
    connectionTimeoutMillis: CONNECT_MS
  })
  const session = queueStatements(client)
  let isConnected = false
  let isClosing = false
  let isRestarting = false
  let stopEnding = () => {}

  client.on('error', restart)
  // Each channel of a feature has a listener.
  client.setMaxListeners(0)

  function restart (err: Error): void {
    if (isClosing || isRestarting) return
    isRestarting = true
    app.log.fatal({ err }, 'the database connection was lost; this process ends and is restarted')
    // From now on another process runs its tasks.
    if (role === 'worker') process.exit(EXIT_CODES.temporary)
    waitForDatabase(url).then(() => finish(app)).catch((failure: unknown) => {
      app.log.error({ err: failure }, 'the process could not be closed cleanly')
    }).finally(() => { process.exit(EXIT_CODES.temporary) })
  }

  function retire (): void {
    if (isClosing || isRestarting) return
    isRestarting = true
    finish(app).catch((err: unknown) => {
      app.log.error({ err }, 'the process could not be closed cleanly')
    }).finally(() => { process.exit(EXIT_CODES.temporary) })
  }

  const heartbeat = createHeartbeat({
    session,
    id,
    log: app.log,
    onSilence (err) {
      // The statement of the end would wait for an answer, too.
      isConnected = false
      restart(err)
    }
  })

  app.decorate('workers', {
    id,
    session,
    restart,
    retire,
    isAlive: (role) => isAlive(app, role),
    isResting: () => app.workers.isLocked(RESTING),
    requireScanWorker: () => requireScanWorker(app, isSupervised),
    findAbsence: async () => await isRunning(app, 'worker') ? null : noScanWorker(isSupervised),
    findAddress: createHostAddresses(() => loadAddresses(app)),
    listAlive: async () => (await app.db.query<{ id: string }>(ALIVE)).rows.map((row) => row.id),
    ...createLocks(session, app, id),
    listen: async (channel: string, listener: (payload: string) => void) => {
      client.on('notification', (notice) => { if (notice.channel === channel) listener(notice.payload ?? '') })
      await session.query(`listen ${client.escapeIdentifier(channel)}`)
    }
  })

  app.addHook('onReady', async () => {
    await client.connect()
    isConnected = true
    // The rows of processes need not survive a crash, and a heartbeat must not wait for a standby that is away.
    // A role may have a limit for idle sessions, which can be shorter than the pause between heartbeats.
    await session.query(`set synchronous_commit to off; set lock_timeout to ${LOCK_MS}; set idle_session_timeout to 0`)
    if (!await tryLock(session, LOCK_CLASS, id)) throw new StartError('Another process has the same identity; start again.')
    await session.query("delete from workers where seen_at < now() - interval '1 day'")
    await session.query(`insert into workers (id, role, host_id, host_name, release, address, key_digest, started_at)
      values ($1, $2, $3, $4, $5, $6, $7, now() - $8 * interval '1 ms')`,
    [id, role, host.id, hostname(), VERSION, host.address, keyDigest, runningMs])
    await heartbeat.start()
    if (role === 'web') stopEnding = endStuckCommits(session, app.log)
  })

  app.addHook('onClose', async () => {
    isClosing = true
    heartbeat.stop()
    stopEnding()
    // A session that failed before was never connected, and a statement would wait for a connection for ever.
    if (!isConnected) return
    await session.query('delete from workers where id = $1', [id]).catch((err: unknown) => {
      app.log.debug({ err }, 'the row of the process could not be deleted; its lock is released nevertheless')
    })
    // The other processes hear that the sockets of this one are closed.
    await session.finish()
    await client.end()
  })
}, { name: 'workers', fastify: '5.x', dependencies: ['database'] })
