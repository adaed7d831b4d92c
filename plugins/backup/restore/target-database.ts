import { createLogger } from '../../../core/log/log.ts'
import type { Config } from '../../../core/config/config.ts'
import { directUrlOf } from '../../../core/config/database-urls.ts'
import { EXIT_CODES, StartError } from '../../../core/errors.ts'
import { openDatabase } from '../../../core/supervisor/database.ts'
import { createBeside, dropDatabase, hasDatabase, listSessions, maintenanceUrl, nameOf, withClient } from '../rows.ts'
import type { Swap } from './swap-data.ts'

/** An empty database to restore into, which nobody uses yet. */
export interface Target {
  url: string
  /** The swap that replaces the old database. */
  swap: Swap['database']
  /** Stops the server if it is embedded; its files stay on disk. */
  stop (): Promise<void>
  /** Deletes the database. */
  discard (): Promise<void>
}

async function openEmbedded (config: Config): Promise<Target> {
  const ignore = () => undefined
  const server = await openDatabase(config, createLogger(config, 'svc'), { onLost: ignore, onRestored: ignore, onRestartImpossible: ignore })
  return { url: server.url, swap: null, stop: () => server.stop(), discard: () => server.stop() }
}

/** PostgreSQL cuts names at 63 bytes. */
const nameWith = (name: string, suffix: string) => `${name.slice(0, 63 - suffix.length)}${suffix}`

async function openExternal (url: string, stamp: string): Promise<Target> {
  const name = nameOf(url)
  const newName = nameWith(name, '_svc_restore')
  const freshUrl = await withClient(maintenanceUrl(url), async (tx) => {
    const users = await hasDatabase(tx, name) ? await listSessions(tx, name) : []
    if (users.length > 0) {
      throw new StartError(`The database ${name} is in use (${users.join(', ')}). Stop these programs, then repeat this command.`, { exitCode: EXIT_CODES.temporary })
    }
    // Delete the database of a killed restore.
    await dropDatabase(tx, newName)
    return await createBeside(tx, url, newName)
  }).catch((err: unknown) => {
    if (err instanceof StartError) throw err
    throw new StartError(`No database can be created beside ${name}: ${(err as Error).message}. A restore creates a new database and ` +
      'renames the old one: let the role of SVC_DATABASE_URL create databases (alter role … createdb) and connect to "postgres".', { cause: err })
  })
  return {
    url: freshUrl,
    swap: { url, name, fresh: newName, kept: nameWith(name, `_before_${stamp.toLowerCase()}`) },
    stop: async () => undefined,
    discard: async () => { await withClient(maintenanceUrl(url), (tx) => dropDatabase(tx, newName)) }
  }
}

/** Creates the database for this configuration, beside the existing one. */
export function openTarget (config: Config, stamp: string): Promise<Target> {
  const url = directUrlOf(config)
  return url === undefined ? openEmbedded(config) : openExternal(url, stamp)
}
