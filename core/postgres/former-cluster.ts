import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { settingsEnvironment } from '../config/environment.ts'
import type { Features } from '../feature.ts'
import { findOwnMajor } from './binaries.ts'
import { readVersion } from './cluster.ts'

/**
 * Moves an embedded database that an earlier major version of PostgreSQL wrote to the PostgreSQL of this release.
 *
 * @throws StartError if the move is not possible; nothing was changed then
 */
export async function moveFormerCluster (config: Config, log: Logger, features: Features): Promise<void> {
  if (config.database.url !== undefined) return
  // If this user may not read the folder, the code that opens the database reports it.
  const from = await readVersion(join(config.data_dir, 'db')).catch(() => undefined)
  const to = from === undefined ? null : await findOwnMajor()
  if (from === undefined || to === null || Number(from) >= Number(to)) return
  const { loadConfig, moveCluster } = features
  await moveCluster({ config, environment: settingsEnvironment(), loadConfig, log, from, to })
}
