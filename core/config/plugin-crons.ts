import type { Config } from './schema.ts'
import { isCron } from './cron.ts'
import type { Environment } from './environment.ts'
import { describeFormat } from './formats.ts'

/** The variable with the schedule of a plugin's index, as in core/loader/search-index/index-schedule.ts. */
const VARIABLE = /^SCHEDULED_UPDATE_\w+_METADATA_CRON$/
const KEYS = ['refresh_cron', 'progress_cron']

/**
 * Describes each schedule of a plugin that is no cron line. Their names contain the key of a plugin, so no schema of
 * the server lists them.
 */
export function findWrongCrons (plugins: Config['plugins'], environment: Environment, file: string): string[] {
  const fromEnvironment = Object.entries(environment).filter(([name]) => VARIABLE.test(name))
  const fromFile = Object.entries(plugins).flatMap(([plugin, section]: [string, Record<string, unknown>]) =>
    KEYS.map((key) => [`plugins.${plugin}.${key} in ${file}`, section[key]] as const))
  return [...fromEnvironment, ...fromFile]
    .filter(([, value]) => value !== undefined && value !== '' && !(typeof value === 'string' && isCron(value)))
    .map(([name, value]) => `${name}: ${JSON.stringify(value)} is not ${describeFormat('cron')}. Correct it or remove it.`)
}
