import { type Logger, pino } from 'pino'
import { type AppOptions, buildApp } from '../app.ts'
import { findDatabaseUrl } from './database.ts'
import { withDatabase } from './migrate.ts'
import { waitForStart } from './starting.ts'
import type { Config } from '../config/config.ts'
import type { Features } from '../feature.ts'
import { createLogger } from '../log/log.ts'
import { prepareHost } from '../server.ts'
import { createLayout } from '../supervisor/folders.ts'
import { readServerState } from '../supervisor/server-state.ts'
import type { App } from '../typebox.ts'

/**
 * Raises the log level, because warnings such as skipped plugins belong to the server's log and would hide the
 * command's output.
 */
function withoutLogs (config: Config, level: 'error' | 'fatal' = 'error'): { config: Config, logger: Logger } {
  const quiet: Config = {
    ...config, server: { ...config.server, log_level: level }, metrics: { ...config.metrics, enabled: false }
  }
  return { config: quiet, logger: createLogger(quiet, 'svc-cli', pino.destination({ dest: 2, sync: true })) }
}

async function runApp<T> (
  options: Pick<AppOptions, 'features' | 'config' | 'logger' | 'role' | 'databaseUrl' | 'awaitsWorker'>, work: (app: App) => Promise<T>
): Promise<T> {
  const app = await buildApp(options)
  try {
    await app.ready()
    return await work(app)
  } finally {
    await app.close()
  }
}

/** Runs `work` with the server's features on the running server's database. The app does not listen. */
export async function withApp<T> (features: Features, config: Config, work: (app: App) => Promise<T>): Promise<T> {
  const databaseUrl = await findDatabaseUrl(config)
  const awaitsWorker = readServerState(config.data_dir) !== null
  return await runApp({ ...withoutLogs(config), features, role: 'command', databaseUrl, awaitsWorker }, work)
}

/** True if a scan worker is alive on a database that several machines may use. */
async function isWorkerAlive (features: Features, config: Config): Promise<boolean> {
  return config.database.url !== undefined && await withApp(features, config, (app) => app.workers.isAlive('worker'))
}

/** Runs `work` with a scan worker: that of the running server, else this process for the duration of `work`. */
export async function withWorker<T> (features: Features, config: Config, work: (app: App) => Promise<T>): Promise<T> {
  await waitForStart(config)
  const hasWorker = readServerState(config.data_dir) !== null || await isWorkerAlive(features, config)
  if (hasWorker) return await withApp(features, config, work)
  // The command itself reports the failure of its task.
  const quiet = withoutLogs(config, 'fatal')
  await createLayout(config)
  return await withDatabase(features, quiet.config, async (databaseUrl) => {
    const prepared = await prepareHost(features, { config: quiet.config, databaseUrl, log: quiet.logger })
    return await runApp({ ...withoutLogs(prepared, 'fatal'), features, role: 'worker', databaseUrl }, work)
  })
}
