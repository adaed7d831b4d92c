import type { Config } from '../config/config.ts'
import { directUrlOf } from '../config/database-urls.ts'
import { EXIT_CODES, StartError } from '../errors.ts'
import type { Features } from '../feature.ts'
import { createLogger } from '../log/log.ts'
import { moveFormerCluster } from '../postgres/former-cluster.ts'
import { adoptDatabase, migrateDatabase } from '../server.ts'
import { openDatabase } from '../supervisor/database.ts'
import { lockDataDir } from '../supervisor/lock.ts'
import { readServerState } from '../supervisor/server-state.ts'

/** Runs the embedded database for the duration of `work`. */
async function withEmbedded<T> (features: Features, config: Config, work: (url: string) => Promise<T>): Promise<T> {
  const log = createLogger(config, 'svc')
  await moveFormerCluster(config, log, features)
  const lock = lockDataDir(config.data_dir)
  if (lock === null) {
    throw new StartError(`Another svc command is using ${config.data_dir}. Repeat this command after that one has ended.`, { exitCode: EXIT_CODES.temporary })
  }
  const ignore = () => {}
  try {
    const database = await openDatabase(
      config, log, { onLost: ignore, onRestored: ignore, onRestartImpossible: ignore }
    )
    try {
      return await work(database.url)
    } finally {
      await database.stop()
    }
  } finally {
    lock.release()
  }
}

/** Runs `work` on the database, whether a server runs the database or not. */
export async function withDatabase<T> (
  features: Features, config: Config, work: (url: string) => Promise<T>
): Promise<T> {
  const url = directUrlOf(config) ?? readServerState(config.data_dir)?.database_url
  return url === undefined ? await withEmbedded(features, config, work) : await work(url)
}

/** Implements `svc migrate`. */
export async function migrate (features: Features): Promise<void> {
  const { config } = await features.loadConfig()
  const log = createLogger(config, 'svc')
  const applied = await withDatabase(features, config, (databaseUrl) =>
    migrateDatabase(features, { config, databaseUrl, log }))
  process.stdout.write(applied.length === 0
    ? 'The database is up to date.\n'
    : `Applied ${applied.join(', ')}.\n`)
}

/** Implements `svc database adopt`: joins a data directory and a database that were not used together before. */
export async function adopt (features: Features): Promise<void> {
  const { config } = await features.loadConfig()
  const log = createLogger(config, 'svc')
  const identity = await withDatabase(features, config, (databaseUrl) =>
    adoptDatabase(features, { config, databaseUrl, log }))
  process.stdout.write(`${config.data_dir} now belongs to this database (${identity}). Files that the database does not know ` +
    'stay unchanged.\n')
}
