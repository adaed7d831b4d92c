import { settingsEnvironment } from '../config/environment.ts'
import type { Features } from '../feature.ts'
import { runStripped } from '../loader/packages/strip-types.ts'
import { createLogger } from '../log/log.ts'
import { moveFormerCluster } from '../postgres/former-cluster.ts'
import { listRuntimeWarnings } from '../process/runtime.ts'
import { supervise } from '../supervisor/supervisor.ts'

/** Implements `svc start`. */
export async function start (features: Features): Promise<number> {
  const { config, warnings } = await features.loadConfig()
  // The end of the program that reads the log ends a command, but not the server.
  process.stdout.removeAllListeners('error').on('error', () => {})
  const log = createLogger(config, 'svc')
  await runStripped(config, log)
  for (const warning of [...warnings, ...listRuntimeWarnings()]) log.warn(warning)
  await moveFormerCluster(config, log, features)
  return await supervise({ config, settings: settingsEnvironment(), log, announce: (text) => { process.stdout.write(`${text}\n`) } })
}
