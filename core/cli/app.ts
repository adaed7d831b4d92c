import { pino } from 'pino'
import { buildApp } from '../app.ts'
import { loadFeatures } from '../composition/features.ts'
import { findDatabaseUrl } from './database.ts'
import type { Config } from '../config/config.ts'
import { createLogger } from '../log.ts'
import { readServerState } from '../supervisor/state.ts'
import type { App } from '../typebox.ts'

/** The server's features on the running server's database, for as long as `work` takes. Nothing listens. */
export async function withApp<T> (config: Config, work: (app: App) => Promise<T>): Promise<T> {
  const databaseUrl = await findDatabaseUrl(config)
  const awaitsWorker = readServerState(config.data_dir) !== null
  // Plugins that are left out are the server's news; here they would only stand in the way of the answer.
  const quiet: Config = {
    ...config, server: { ...config.server, log_level: 'error' }, metrics: { ...config.metrics, enabled: false }
  }
  const logger = createLogger(quiet, 'svc-cli', pino.destination({ dest: 2, sync: true }))
  const app = await buildApp({ config: quiet, role: 'web', databaseUrl, logger, awaitsWorker, features: await loadFeatures() })
  try {
    await app.ready()
    return await work(app)
  } finally {
    await app.close()
  }
}
