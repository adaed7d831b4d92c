import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../postgres/embedded.ts'
import { StartError } from '../errors.ts'

export interface Database {
  /** Whether it runs in the data directory, as a process of ours. */
  isEmbedded: boolean
  url: string
  /** The process of the embedded one; null for one elsewhere. */
  pid: number | null
  stop (): Promise<void>
  /** Ends it without waiting for anything; the next start recovers it. */
  kill (): void
}

export interface DatabaseEvents {
  onLost (): void
  /** It runs again, perhaps elsewhere. */
  onRestored (url: string): void
  /** It ended and cannot be started again. */
  onHopeless (reason: string): void
}

/** Connections of one process for its identity, its jobs, LISTEN and long reads, besides its two pools. */
const EXTRA_CONNECTIONS = 12
/** For commands, backups and people, and the three that PostgreSQL reserves for a superuser. */
const SPARE_CONNECTIONS = 18
const RESTART_DELAYS_MS = [0, 1_000, 5_000, 15_000]
/** A server that lived this long did not die of its start. */
const STEADY_MS = 60_000
const DEATHS_MAX = 5
/** Severities an owner should see: https://www.postgresql.org/docs/current/runtime-config-logging.html */
const SEVERE = /\b(?:FATAL|PANIC):/

/** Enough for every process of this configuration. */
export function countConnections (config: Config): number {
  const perProcess = Math.ceil(config.database.pool_size * 1.5) + EXTRA_CONNECTIONS
  return (config.server.workers + 1) * perProcess + SPARE_CONNECTIONS
}

function createStart (config: Config, log: Logger) {
  let isReady = false
  const write = (line: string) => {
    // While it starts, or ends, refusals are its normal answer to those who come too early or too late.
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
 * Starts the embedded database, and starts it again when it dies; or points at the configured one. The signal gives the
 * first start up: what was begun of it is gone then.
 *
 * @throws StartError with the database's own reason.
 */
export async function openDatabase (
  config: Config, log: Logger, events: DatabaseEvents, signal = new AbortController().signal
): Promise<Database> {
  if (config.database.url !== undefined) {
    return { isEmbedded: false, url: config.database.url, pid: null, stop: async () => {}, kill: () => {} }
  }
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
        // On the same port, so that whoever knows its address still finds it; on another when that is taken.
        const port = reason === '' ? Number(new URL(server.url).port) : undefined
        server = await start(stopping.signal, port)
        guard()
        if (!stopping.signal.aborted) events.onRestored(server.url)
        return
      } catch (err) {
        if (stopping.signal.aborted) return
        reason = (err as Error).message
        log.error({ err }, 'the database could not be started again')
      }
    }
    events.onHopeless(reason)
  }

  function guard (): void {
    const startedAt = performance.now()
    isUp = true
    void server.exited.then((exit) => {
      isUp = false
      if (stopping.signal.aborted) return
      deaths = performance.now() - startedAt > STEADY_MS ? 1 : deaths + 1
      log.error(exit, 'the database ended and is started again')
      events.onLost()
      if (deaths > DEATHS_MAX) events.onHopeless(`it ended ${deaths} times in a row; see its lines at log level debug`)
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
