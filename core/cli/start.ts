import { moveFormerCluster } from '../composition/cluster.ts'
import { loadConfig } from '../config/config.ts'
import { settingsEnvironment } from '../config/environment.ts'
import { createLogger } from '../log.ts'
import { listRuntimeWarnings } from '../runtime.ts'
import { supervise } from '../supervisor/supervisor.ts'

/** Implements `svc start`. */
export async function start (): Promise<number> {
  const { config, warnings } = loadConfig()
  const log = createLogger(config, 'svc')
  for (const warning of [...warnings, ...listRuntimeWarnings()]) log.warn(warning)
  await moveFormerCluster(config, log)
  return await supervise({ config, settings: settingsEnvironment(), log, announce: (text) => { process.stdout.write(`${text}\n`) } })
}
