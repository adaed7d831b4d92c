import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { access, realpath } from 'node:fs/promises'
import { createServer } from 'node:net'
import { totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../errors.ts'
import { errorCode } from '../files/fs-error.ts'
import { locateBinaries, undefinedIf } from './binaries.ts'
import type { Account, BinarySource, Binaries } from './binaries.ts'
import { FAST_SHUTDOWN_MS, IMMEDIATE_SHUTDOWN_MS, SUPERUSER, chooseAccount, clearLeftovers, descriptorPath, prepareCluster, readLockFile, serverProcessOptions } from './cluster.ts'
import type { Cluster } from './cluster.ts'
import { DATABASE, MAINTENANCE_DATABASE, SERVER_ROLE, derivePassword, prepareDatabase } from './server-role.ts'

export interface EmbeddedPostgresOptions {
  /** The folder of the cluster; created at the first start. */
  dataDir: string
  /** Receives each line that the server logs. */
  log: (line: string) => void
  /** The port on 127.0.0.1; any free one if absent. */
  port?: number
  /** Server settings (postgresql.conf names) that replace the defaults below. */
  settings?: Record<string, string>
  /** The origin of the programs, for tests and packagers of svc. */
  binaries?: BinarySource
  /** Aborts the start: started processes are stopped, and the start fails. */
  signal?: AbortSignal
}

export interface Exit { code: number | null, signal: NodeJS.Signals | null }

export interface EmbeddedPostgres {
  /**
   * `postgres://svc_server:<password>@127.0.0.1:<port>/svc`, with the role of the server, which is no superuser. `?host=`
   * follows if a Unix socket can be reached.
   */
  url: string
  pid: number
  /** Resolves when the server ends, whatever the reason. */
  exited: Promise<Exit>
  /** Stops the server as gently as possible within about ten seconds. May be called again. */
  stop: () => Promise<void>
}

const HOST = '127.0.0.1'
/** The shortest limit of all systems, 104 bytes with the final zero (macOS); see unix(4) and, for Linux, unix(7). */
const SOCKET_PATH_MAX = 103
const MEMORY_ATTEMPTS = 10
const MEMORY_WAIT_MS = 200
const PORT_ATTEMPTS = 5
const POLL_MS = 20
/** 57P03 is cannot_connect_now: https://www.postgresql.org/docs/18/errcodes-appendix.html */
const NOT_YET = ['57P03', 'ECONNREFUSED', 'ECONNRESET']
const LAST_LINES = 20
const LAST_LINES_WAIT_MS = 1000

const MEGABYTE = 1024 ** 2
/** The cache is this part of the memory, within these limits. Its pages use no memory until they are needed. */
const CACHE_PART = 16
const [CACHE_MIN_MB, CACHE_MAX_MB] = [64, 256]

/** Returns the size of the cache of pages for the memory of this machine, or of its container. */
function sizeCache (): string {
  const limit = process.constrainedMemory()
  const bytes = Math.min(totalmem(), limit > 0 ? limit : Infinity)
  return `${Math.max(CACHE_MIN_MB, Math.min(CACHE_MAX_MB, Math.floor(bytes / CACHE_PART / MEGABYTE)))}MB`
}

/** Sized for one small machine: few processes, little memory, few writes while idle. */
const DEFAULT_SETTINGS = {
  max_connections: '60',
  shared_buffers: sizeCache(),
  // By default a part of the cache, up to 8 MB, all of which the start would fill.
  wal_buffers: '2MB',
  effective_cache_size: '256MB',
  maintenance_work_mem: '32MB',
  max_wal_size: '256MB',
  min_wal_size: '32MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_replication_slots: '0',
  max_logical_replication_workers: '0',
  max_worker_processes: '4',
  max_parallel_workers: '2',
  max_parallel_workers_per_gather: '1',
  max_parallel_maintenance_workers: '1',
  autovacuum_max_workers: '2',
  max_pred_locks_per_transaction: '10',
  jit: 'off',
  huge_pages: 'off',
  update_process_title: 'off',
  log_checkpoints: 'off',
  log_line_prefix: '',
  timezone: 'UTC'
}

/** Not for a cluster of an earlier major version, which runs once in order to be moved. */
const SETTINGS_SINCE_18 = { autovacuum_worker_slots: '2', io_method: 'sync', io_max_concurrency: '4' }

interface Server {
  child: ChildProcess
  exited: Promise<Exit>
  /** The last lines that the server logged. */
  lines: string[]
  /** Resolves when no more lines can arrive. */
  closed: Promise<unknown>
}

/**
 * Starts PostgreSQL on `dataDir`. Creates the cluster, the server's role and the database at the first start, and stops
 * a server that a killed svc left. Objects that an earlier release created as the superuser get the server's role as
 * owner.
 *
 * @throws StartError with the cause and, if the server itself failed, the last lines of its log.
 */
export async function startEmbeddedPostgres (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = await followLinks(resolve(options.dataDir))
  const account = await chooseAccount(dataDir)
  const binaries = await locateBinaries(account, options.binaries)
  const cluster = await prepareCluster(dataDir, binaries, account)
  await clearLeftovers(cluster, binaries, options.log)
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? await findFreePort()
    options.signal?.throwIfAborted()
    const server = spawnServer({ cluster, binaries, account }, port, options)
    const quitServer = () => { sendSignal(server.child, 'SIGQUIT', binaries) }
    options.signal?.addEventListener('abort', quitServer)
    try {
      return await openServer(server, { cluster, binaries, account }, port)
    } catch (err) {
      await stopServer(server, binaries)
      const hasLine = (text: string) => server.lines.some((line) => line.includes(text))
      // The port was free a moment ago; another program took it.
      const lostPort = options.port === undefined && attempt < PORT_ATTEMPTS && hasLine('could not bind')
      // A killed process releases its shared memory a moment after it disappears from the process list.
      const isMemoryHeld = attempt < MEMORY_ATTEMPTS && hasLine('pre-existing shared memory block')
      if (!lostPort && !isMemoryHeld) throw err
      if (isMemoryHeld) await sleep(MEMORY_WAIT_MS)
    } finally {
      options.signal?.removeEventListener('abort', quitServer)
    }
  }
}

/** Resolves links, because a data folder that links to an empty disk must be created at the link's target. */
async function followLinks (path: string): Promise<string> {
  return await realpath(path).catch(undefinedIf('ENOENT')) ?? path
}

async function findFreePort (): Promise<number> {
  const probe = createServer().listen(0, HOST)
  await once(probe, 'listening')
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  if (address === null || typeof address === 'string') throw new Error(`No free port on ${HOST}`)
  return address.port
}

/** A cluster, with the programs and the account that run its server. */
interface Installation { cluster: Cluster, binaries: Binaries, account: Account | undefined }

/** See `unix_socket_directories` of PostgreSQL, whose clients build the same path. */
const socketPath = (dataDir: string, port: number) => join(dataDir, `.s.PGSQL.${port}`)

/**
 * Returns the parameter that makes clients use the server's Unix socket, because a statement then takes a quarter less
 * time than over TCP; empty if this process cannot reach a socket.
 */
async function socketParameter ({ dataDir }: Cluster, port: number): Promise<string> {
  const path = socketPath(dataDir, port)
  const isReachable = Buffer.byteLength(path) <= SOCKET_PATH_MAX && await access(path).then(() => true, () => false)
  return isReachable ? `?host=${encodeURIComponent(dataDir)}` : ''
}

function spawnServer (
  { cluster, binaries, account }: Installation, port: number, options: EmbeddedPostgresOptions
): Server {
  const settings = {
    ...DEFAULT_SETTINGS,
    ...(Number(binaries.major) < 18 ? {} : SETTINGS_SINCE_18),
    ...options.settings,
    cluster_name: cluster.name,
    listen_addresses: HOST,
    port: String(port),
    // Relative to the data folder, which the account of the server may not reach by its path.
    unix_socket_directories: process.platform === 'win32' ? '' : '.',
    log_destination: 'stderr',
    logging_collector: 'off',
    // Without DETAIL, because it repeats the values of whole rows.
    log_error_verbosity: 'terse',
    lc_messages: 'C'
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(binaries.postgres, ['-D', descriptorPath(cluster.dataDir), ...args], {
    ...serverProcessOptions(cluster.dataDir, account),
    // In its own process group, because Ctrl-C in a terminal is for the supervisor, which stops the server last.
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'ignore', 'pipe']
  })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line)
    if (lines.length > LAST_LINES) lines.shift()
    options.log(line)
  })
  const closed = new Promise((resolve) => child.once('close', resolve))
  return { child, lines, closed, exited: observeExit(child, lines) }
}

function observeExit (child: ChildProcess, lines: string[]): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    child.once('error', (err) => {
      lines.push(String(err))
      if (child.pid === undefined) resolve({ code: null, signal: null })
    })
  })
}

async function openServer (server: Server, { cluster, binaries }: Installation, port: number) {
  const addressOf = (role: string, password: string, database: string) =>
    `postgres://${role}:${password}@${HOST}:${port}/${database}`
  await waitUntilReady(server, cluster, addressOf(SUPERUSER, cluster.password, MAINTENANCE_DATABASE))
  const { pid } = server.child
  if (pid === undefined) throw new Error(`The PostgreSQL server of ${cluster.dataDir} has no process id`)
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= stopServer(server, binaries))
  const url = addressOf(SERVER_ROLE, derivePassword(cluster.password), DATABASE) + await socketParameter(cluster, port)
  return { url, pid, exited: server.exited, stop }
}

/** Waits for the server without a time limit, because recovery after a crash may take long and shows in the log. */
async function waitUntilReady (server: Server, { dataDir, password }: Cluster, superuserUrl: string): Promise<void> {
  while (isRunning(server.child)) {
    await sleep(POLL_MS)
    // Only the server that holds the lock file also holds the port, so other servers must not get a connection.
    const lock = await readLockFile(dataDir)
    if (lock[0] !== String(server.child.pid) || lock[7] !== 'ready') continue
    try {
      await prepareDatabase(superuserUrl, derivePassword(password))
      return
    } catch (err) {
      if (NOT_YET.includes(errorCode(err))) continue
      throw startFailure(dataDir, String(err), server.lines, err)
    }
  }
  const { code, signal } = await server.exited
  await Promise.race([server.closed, sleep(LAST_LINES_WAIT_MS, undefined, { ref: false })])
  throw startFailure(dataDir, signal ?? `exit code ${code ?? 'none'}`, server.lines)
}

function startFailure (dataDir: string, reason: string, lines: string[], cause?: unknown): StartError {
  const isFull = lines.some((line) => line.includes('No space left on device'))
  const remedy = isFull ? [`The disk of ${dataDir} is full. Free some space there, then start again.`] : []
  return new StartError([`PostgreSQL did not start in ${dataDir} (${reason}). Its last lines:`, ...lines, ...remedy].join('\n'), { cause })
}

function isRunning ({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null
}

/**
 * Stops the server. A fast shutdown comes first, because it writes all data; the harder ways need a recovery at the
 * next start.
 */
async function stopServer (server: Server, binaries: Binaries): Promise<void> {
  const steps = [['SIGINT', FAST_SHUTDOWN_MS], ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS]] as const
  for (const [signal, waitMs] of steps) {
    sendSignal(server.child, signal, binaries)
    const exit = await Promise.race([server.exited, sleep(waitMs, undefined, { ref: false })])
    if (exit !== undefined) return
  }
  server.child.kill('SIGKILL')
  await server.exited
}

/** Sends a signal. Windows has none; there pg_ctl passes it to the server. */
function sendSignal (child: ChildProcess, signal: 'SIGINT' | 'SIGQUIT', { pgCtl }: Binaries): void {
  if (process.platform === 'win32' && child.pid !== undefined) {
    execFile(pgCtl, ['kill', signal.slice('SIG'.length), String(child.pid)], { windowsHide: true })
  } else {
    child.kill(signal)
  }
}
