import { loadConfig, renderConfig } from '../config/config.ts'

/** Implements `svc config`. */
export function printConfig (): void {
  const { config, warnings } = loadConfig()
  for (const warning of warnings) process.stderr.write(`svc: ${warning}\n`)
  process.stdout.write(`${renderConfig(config)}\n`)
}
