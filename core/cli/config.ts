import { renderConfig } from '../config/config.ts'
import type { Features } from '../feature.ts'

/** Implements `svc config`. */
export async function printConfig (features: Features): Promise<void> {
  const { config, warnings } = await features.loadConfig()
  for (const warning of warnings) process.stderr.write(`svc: ${warning}\n`)
  process.stdout.write(`${renderConfig(config)}\n`)
}
