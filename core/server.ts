import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { createSecrets } from './access/secrets.ts'
import { buildApp } from './app.ts'
export { loadDocuments } from './app.ts'
import type { Config } from './config/config.ts'
import { migrate } from './database/database.ts'
import { joinDatabase } from './database/identity.ts'
import { withRights } from './database/role-rights.ts'
import { withSession } from './database/session.ts'
import type { Features, ProcessRole, Upgrade } from './feature.ts'
import { requireSameKey } from './access/host-key.ts'
import { migrateJobs } from './jobs/boss.ts'
import type { InstalledPlugins } from './loader/inspection/installed.ts'
import { installSharedPackages } from './loader/packages/install-shared.ts'
import { forwardForeignSessions } from './sockets/forward-sessions.ts'
import { createDrain } from './supervisor/drain.ts'
import { explainListenError } from './supervisor/port.ts'
import { lowerPriority } from './supervisor/priority.ts'
import { collectSooner } from './supervisor/start-memory.ts'
import type { App } from './typebox.ts'
import type { ServerRole } from './jobs/workers.ts'

/** The time after which a start says what it waits for. */
const ANNOUNCE_MS = 2_000

export interface RoleOptions {
  features: Features
  config: Config
  role: ServerRole
  databaseUrl: string
  logger: Logger
  /** The id of the host to which this process belongs. */
  hostId: string
  /** The number among the web workers of one supervisor, from 1; 0 otherwise. */
  workerNumber: number
  /** A folder that only this user can read, with the sockets that connect the web workers of one machine. */
  socketDir: string
  /** The role among the processes of one supervisor. */
  processRole?: ProcessRole
  /** Replaces the configured port, which may be 0 for any. */
  port?: number
  /** Milliseconds since the scan worker started that this one replaces after a rest; null for any other start. */
  wokenAfterMs?: number | null
  /** The plugins at the start of the server; by default those that are installed now. */
  installed?: InstalledPlugins
}

export interface RunningRole {
  app: App
  /** The port on which it listens; null for the scan worker. */
  port: number | null
  /**
   * Accepts no new work, finishes requests within a few seconds and uploads within the given time, and returns its
   * tasks to the queue.
   */
  close (uploadSeconds?: number): Promise<void>
}

/**
 * Migrates the server's tables and those of its job queue to the current schema. Safe to run anywhere at any time.
 *
 * @throws StartError if the role of the database has too few rights for that, or for the work of the server
 */
export async function migrateDatabase (features: Features, options: Upgrade): Promise<string[]> {
  const { config, databaseUrl: url, log } = options
  const tables = await features.loadTables()
  return await withRights(url, async () => {
    const applied = await migrate({
      url, poolSize: config.database.pool_size, ...tables, beforeChange: () => features.beforeUpgrade(options)
    })
    await migrateJobs(url, (err) => { log.error({ err }, 'job queue failed') })
    return applied
  })
}

/** Logs what a start waits for, if that takes longer than people expect. */
async function announceSlow<T> (log: Logger, text: string, work: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => { log.info(text) }, ANNOUNCE_MS)
  try {
    return await work()
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Prepares a server that is about to work with this database and data directory: migrates the database to the current
 * schema, and brings settings and plugins to the state of all hosts. The server also starts if that state cannot be
 * reached.
 *
 * @returns the settings, which other hosts may have changed
 * @throws StartError if the two do not belong together, or a running host has another secret key
 */
export async function prepareHost (features: Features, options: Upgrade): Promise<Config> {
  const { config, databaseUrl, log } = options
  await announceSlow(log, 'the start waits until this host or another one has migrated the database, which may take minutes',
    () => migrateDatabase(features, options))
  await withSession({ connectionString: databaseUrl }, async (database) => {
    await requireSameKey(database, createSecrets(config.auth.secret_key))
    await features.check(config, database)
  })
  const hasChanged = await features.prepare(options)
  const { changed, problem } = await announceSlow(log, 'the start waits until npm has installed the plugins of all hosts on this one',
    () => installSharedPackages(config))
  if (changed.length > 0) log.info({ plugins: changed }, 'the plugins of all hosts were installed on this one')
  if (problem !== null) log.error({ reason: problem }, 'this host lacks plugins of the other hosts')
  return hasChanged ? (await features.loadConfig()).config : config
}

/** Writes the identity of this database to the data directory. @returns the identity that both have now */
export async function adoptDatabase (features: Features, options: Upgrade): Promise<string> {
  await migrateDatabase(features, options)
  const { config, databaseUrl } = options
  return await withSession({ connectionString: databaseUrl }, (database) => joinDatabase(config.data_dir, database))
}

async function listen (app: App, host: string, port: number): Promise<number> {
  try {
    await app.listen({ host, port })
  } catch (err) {
    throw explainListenError(err, host, port)
  }
  return (app.server.address() as AddressInfo).port
}

/**
 * Runs one role in this process, on a migrated database.
 *
 * @throws StartError if it cannot listen.
 */
export async function startRole (options: RoleOptions): Promise<RunningRole> {
  const { features, config, role, databaseUrl, logger, hostId, workerNumber } = options
  const given = {
    ...options.processRole === undefined ? {} : { processRole: options.processRole },
    ...options.installed === undefined ? {} : { installed: options.installed }
  }
  const { wokenAfterMs = null } = options
  const app = await buildApp({
    config, role, databaseUrl, logger, features, hostId, workerNumber, wokenAfterMs, ...given
  })
  const drain = createDrain(app.server)
  try {
    if (role === 'web') {
      const host = { id: hostId, address: config.cluster.internal_address ?? null }
      await forwardForeignSessions(app, { folder: options.socketDir, host, workerNumber })
    }
    await app.ready()
    const port = role === 'web' ? await listen(app, config.server.host, options.port ?? config.server.port) : null
    if (role === 'worker') {
      collectSooner()
      lowerPriority()
    }
    return {
      app,
      port,
      close: (uploadSeconds = config.server.drain_seconds) => drain(() => app.close(), uploadSeconds * 1_000)
    }
  } catch (err) {
    await app.close()
    throw err
  }
}
