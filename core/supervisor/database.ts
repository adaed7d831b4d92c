import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { directUrlOf } from '../config/database-urls.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../postgres/embedded.ts'
import { StartError } from '../errors.ts'
import { NEVER } from '../concurrency/limit-time.ts'

export interface Database {
  /** True if it runs in the data directory, as a child process. */
  isEmbedded: boolean
  url: string
  /** The process id of the embedded database; null for an external one. */
  pid: number | null
  stop (): Promise<void>
  /** Kills it without waiting; the next start recovers it. */
  kill (): void
}

export interface DatabaseEvents {
  onLost (): void
  /** Called when it runs again, perhaps at another URL. */
  onRestored (url: string): void
  /** Called when it ended and cannot be started again. */
  onRestartImpossible (reason: string): void
}

/** Connections of one process for the session that identifies it, its jobs and long reads, besides its pool. */
const EXTRA_CONNECTIONS = 10
/** Connections for commands, backups and people, and the three that PostgreSQL reserves for a superuser. */
const SPARE_CONNECTIONS = 18
const RESTART_DELAYS_MS = [0, 1_000, 5_000, 15_000]
/** A server that lived this long started successfully. */
const STEADY_MS = 60_000
const DEATHS_MAX = 5
/** Severities for the operator: https://www.postgresql.org/docs/current/runtime-config-logging.html */
const SEVERE = /\b(?:FATAL|PANIC):/

/** Returns the number of processes that `svc start` runs at most: the web workers and the scan worker. */
export const countProcesses = ({ server }: Config): number => server.workers + 1

/** Returns the number of connections that so many processes need, by default all of this configuration. */
export function countConnections (config: Config, processes = countProcesses(config)): number {
  return processes * (config.database.pool_size + EXTRA_CONNECTIONS) + SPARE_CONNECTIONS
}

function createStart (config: Config, log: Logger) {
  let isReady = false
  const write = (line: string) => {
    // While the database starts or ends, it normally refuses early and late connections.
    if (isReady && SEVERE.test(line)) log.warn({ line }, 'database')
    else log.debug({ line }, 'database')
  }
  return async (signal: AbortSignal, port?: number): Promise<EmbeddedPostgres> => {
    isReady = false
    const server = await startEmbeddedPostgres({
      dataDir: join(config.data_dir, 'db'),
      log: write,
      settings: { max_connections: String(countConnections(config)) },
      signal,
      ...(port === undefined ? {} : { port })
    })
    isReady = true
    return server
  }
}

/**
 * Starts the embedded database and restarts it when it dies; or returns the configured external one. The signal aborts
 * the first start and removes its processes.
 *
 * @throws StartError with the database's own reason.
 */
export async function openDatabase (
  config: Config, log: Logger, events: DatabaseEvents, signal = NEVER
): Promise<Database> {
  const url = directUrlOf(config)
  if (url !== undefined) return { isEmbedded: false, url, pid: null, stop: async () => {}, kill: () => {} }
  const stopping = new AbortController()
  const start = createStart(config, log)
  let deaths = 0
  let isUp = false
  let restarted = Promise.resolve()
  let server = await start(signal).catch((err: unknown) => {
    throw err instanceof StartError ? err : new StartError((err as Error).message, { cause: err })
  })

  async function restart (): Promise<void> {
    let reason = ''
    for (const delayMs of RESTART_DELAYS_MS) {
      try {
        await sleep(delayMs, undefined, { signal: stopping.signal })
        // On the same port, because clients know its URL; on another one if the port is taken.
        const port = reason === '' ? Number(new URL(server.url).port) : undefined
        server = await start(stopping.signal, port)
        guard()
        if (!stopping.signal.aborted) events.onRestored(server.url)
        return
      } catch (err) {
        if (stopping.signal.aborted) return
        reason = (err as Error).message
        log.error({ err }, 'the database could not be restarted')
      }
    }
    events.onRestartImpossible(reason)
  }

  function guard (): void {
    const startedAt = performance.now()
    isUp = true
    void server.exited.then((exit) => {
      isUp = false
      if (stopping.signal.aborted) return
      deaths = performance.now() - startedAt > STEADY_MS ? 1 : deaths + 1
      log.error(exit, 'the database ended and is restarted')
      events.onLost()
      if (deaths > DEATHS_MAX) events.onRestartImpossible(`it ended ${deaths} times in a row; see its lines at log level debug`)
      else restarted = restart()
    })
  }

  guard()
  return {
    isEmbedded: true,
    get url () { return server.url },
    get pid () { return server.pid },
    async stop () {
      stopping.abort()
      await restarted
      await server.stop()
    },
    kill () {
      stopping.abort()
      if (isUp) process.kill(server.pid, process.platform === 'win32' ? 'SIGKILL' : 'SIGQUIT')
    }
  }
}
