import { type Config, loadConfig } from './config.ts'
import { StartError } from './errors.ts'
import { createLogger } from './log.ts'
import { migrateDatabase } from './server.ts'
import { openDatabase } from './supervisor-database.ts'
import { lockDataDir } from './supervisor-lock.ts'
import { readServerState } from './supervisor-state.ts'

/** Runs the embedded database for as long as `work` takes. */
async function withEmbedded<T> (config: Config, work: (url: string) => Promise<T>): Promise<T> {
  const lock = lockDataDir(config.data_dir)
  if (lock === null) {
    throw new StartError(`Another svc command is using ${config.data_dir}. Repeat this when it has ended.`, { exitCode: 75 })
  }
  const log = createLogger(config, 'svc')
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

/** `svc migrate`. */
export async function migrate (): Promise<void> {
  const { config } = loadConfig()
  const url = config.database.url ?? readServerState(config.data_dir)?.database_url
  const work = (at: string) => migrateDatabase(config, at)
  const applied = url === undefined ? await withEmbedded(config, work) : await work(url)
  process.stdout.write(applied.length === 0
    ? 'The database is up to date.\n'
    : `Applied ${applied.join(', ')}.\n`)
}
