import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { settingsEnvironment } from '../config/environment.ts'
import { findOwnMajor } from '../postgres/binaries.ts'
import { readVersion } from '../postgres/cluster.ts'

/**
 * Has the PostgreSQL of this release serve the embedded database, when an earlier major version wrote it.
 *
 * @throws StartError when that cannot be done; nothing was changed then
 */
export async function moveFormerCluster (config: Config, log: Logger): Promise<void> {
  if (config.database.url !== undefined) return
  // What this user may not read is told of by whoever opens it.
  const from = await readVersion(join(config.data_dir, 'db')).catch(() => undefined)
  const to = from === undefined ? null : await findOwnMajor()
  if (from === undefined || to === null || Number(from) >= Number(to)) return
  const { moveCluster } = await import('../../plugins/backup/move-cluster.ts')
  await moveCluster({ config, environment: settingsEnvironment(), log, from, to })
}
