import { moveFormerCluster } from '../composition/cluster.ts'
import { type Config, loadConfig } from '../config/config.ts'
import { StartError } from '../errors.ts'
import { createLogger } from '../log.ts'
import { adoptDatabase, migrateDatabase } from '../server.ts'
import { openDatabase } from '../supervisor/database.ts'
import { lockDataDir } from '../supervisor/lock.ts'
import { readServerState } from '../supervisor/server-state.ts'

/** Runs the embedded database for the duration of `work`. */
async function withEmbedded<T> (config: Config, work: (url: string) => Promise<T>): Promise<T> {
  const log = createLogger(config, 'svc')
  await moveFormerCluster(config, log)
  const lock = lockDataDir(config.data_dir)
  if (lock === null) {
    throw new StartError(`Another svc command is using ${config.data_dir}. Repeat this when it has ended.`, { exitCode: 75 })
  }
  const ignore = () => {}
  try {
    const database = await openDatabase(config, log, { onLost: ignore, onRestored: ignore, onHopeless: ignore })
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
export async function withDatabase<T> (config: Config, work: (url: string) => Promise<T>): Promise<T> {
  const url = config.database.url ?? readServerState(config.data_dir)?.database_url
  return url === undefined ? await withEmbedded(config, work) : await work(url)
}

/** Implements `svc migrate`. */
export async function migrate (): Promise<void> {
  const { config } = loadConfig()
  const applied = await withDatabase(config, (databaseUrl) => migrateDatabase({ config, databaseUrl, log: createLogger(config, 'svc') }))
  process.stdout.write(applied.length === 0
    ? 'The database is up to date.\n'
    : `Applied ${applied.join(', ')}.\n`)
}

/** Implements `svc database adopt`: joins a data directory and a database that were not used together before. */
export async function adopt (): Promise<void> {
  const { config } = loadConfig()
  const identity = await withDatabase(config, (databaseUrl) => adoptDatabase({ config, databaseUrl, log: createLogger(config, 'svc') }))
  process.stdout.write(`${config.data_dir} now belongs to this database (${identity}). Files that it does not know stay where ` +
    'they are.\n')
}
