import type { Config } from '../config/config.ts'
import { renderConfig } from '../config/render-config.ts'
import type { Features } from '../feature.ts'
import { inspectInProcess } from '../loader/inspection/inspect-in-process.ts'
import { listPluginPackages } from '../loader/packages/packages.ts'
import { terminalLine } from './terminal-line.ts'

/**
 * Describes what the start would log of the settings of plugins. Knows the packages on disk, and no settings that
 * administrators stored in the database.
 *
 * @throws StartError for a setting with which the server would not start
 */
async function findPluginProblems (config: Config): Promise<string[]> {
  const packages = listPluginPackages(config.data_dir)
  const { records, wrongKeys } = await inspectInProcess({ runsPlugins: false, packages })
  const skipped = records.filter(({ status }) => status === 'failed' || status === 'unsupported')
  return [...wrongKeys, ...skipped.map(({ package: name, reason }) => `the plugin ${name} is skipped: ${reason}`)]
}

/** Implements `svc config`. @throws StartError for settings with which the server would not start */
export async function printConfig (features: Features): Promise<void> {
  const { config, warnings } = await features.loadConfig()
  for (const warning of warnings) process.stderr.write(`svc: ${warning}\n`)
  process.stdout.write(`${renderConfig(config)}\n`)
  for (const problem of await findPluginProblems(config)) process.stderr.write(`svc: ${terminalLine(problem)}\n`)
}

/** Implements `svc config --help`. @param section true for the list of all sections */
export async function printConfigHelp (features: Features, section: string | true, usage: string): Promise<void> {
  const { renderSection, renderSections } = await import('./config-help.ts')
  const text = section === true
    ? `${usage}\nSections of config.yml:\n${await renderSections(features)}\n`
    : `${await renderSection(features, section)}\n`
  process.stdout.write(text)
}
