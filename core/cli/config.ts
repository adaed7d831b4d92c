import { renderConfig } from '../config/config.ts'
import type { Features } from '../feature.ts'

/** Implements `svc config`. */
export async function printConfig (features: Features): Promise<void> {
  const { config, warnings } = await features.loadConfig()
  for (const warning of warnings) process.stderr.write(`svc: ${warning}\n`)
  process.stdout.write(`${renderConfig(config)}\n`)
}

/** Implements `svc config --help`. @param section true for the list of all sections */
export async function printConfigHelp (features: Features, section: string | true, usage: string): Promise<void> {
  const { renderSection, renderSections } = await import('./config-help.ts')
  const text = section === true
    ? `${usage}\nSections of config.yml:\n${await renderSections(features)}\n`
    : `${await renderSection(features, section)}\n`
  process.stdout.write(text)
}
