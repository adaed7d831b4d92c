import type { Config } from './schema.ts'
import { getAt } from './setting-values.ts'

/** Renders the configuration as lines `key = value` with the variable's name, and masks secrets. */
export function renderConfig (config: Config): string {
  return config.file.listSettings().map(({ path, schema, env }) => {
    const value = getAt(config, path)
    const shown = schema.writeOnly === true
      ? (value === undefined ? '(not set)' : '********')
      : value === undefined ? '(not set)' : JSON.stringify(path[0] === 'plugins' ? maskPlugins(value) : value)
    return `${path.join('.')} = ${shown}${env === undefined ? '' : `   # ${env}`}`
  }).join('\n')
}

/**
 * Returns only the keys that are set for each plugin. The values may be secrets, because only the plugin knows its
 * schema.
 */
function maskPlugins (value: unknown): unknown {
  return Object.fromEntries(Object.entries(value as Record<string, Record<string, unknown>>)
    .map(([key, section]) => [key, Object.keys(section)]))
}
