import type { Config } from '../config/config.ts'
import { directUrlOf } from '../config/database-urls.ts'
import { StartError } from '../errors.ts'
import { commandLine } from '../process/command-line.ts'
import { readServerState } from '../supervisor/server-state.ts'
import { waitForStart } from './starting.ts'

/**
 * Returns the URL of the server's database, once the server has started.
 *
 * @throws StartError if the database is the embedded one and no server runs it.
 */
export async function findDatabaseUrl (config: Config): Promise<string> {
  await waitForStart(config)
  const external = directUrlOf(config)
  if (external !== undefined) return external
  const state = readServerState(config.data_dir)
  if (state !== null) return state.database_url
  throw new StartError(`No server is running on ${config.data_dir}, and its database runs only with the server. Start the server with ` +
    `${commandLine(config, 'start')}, then repeat this command in a second terminal.`)
}
