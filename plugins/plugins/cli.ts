import { createSecrets } from '../../core/access/secrets.ts'
import { terminalLine } from '../../core/cli/terminal-line.ts'
import type { Config } from '../../core/config/config.ts'
import { directUrlOf } from '../../core/config/database-urls.ts'
import { withSession } from '../../core/database/session.ts'
import type { Features } from '../../core/feature.ts'
import { withPackages } from '../../core/loader/packages/install-shared.ts'
import { type Environment, settingsEnvironment } from '../../core/config/environment.ts'
import { inspectInProcess } from '../../core/loader/inspection/inspect-in-process.ts'
import { type PluginPackage, linkSdk, listPluginPackages } from '../../core/loader/packages/packages.ts'
import { type StoredValues, readStoredValues } from '../../core/loader/settings/stored-settings.ts'
import type { PluginRecord } from '../../core/loader/registry.ts'
import { fingerprintOf, readSnapshot } from '../../core/loader/inspection/snapshot.ts'
import { readServerState } from '../../core/supervisor/server-state.ts'
import { selectPluginProblems } from './rows.ts'

/** The timeout of the database, because plugins can be inspected without one. */
const DATABASE_MS = 5_000

interface InspectOptions {
  settings?: Environment
  /** The name of a community package that is loaded after all others. */
  last?: string | undefined
  /** True if the settings that administrators stored do not count. */
  ignoresStored?: boolean
}

/**
 * Reads the settings of plugins that administrators stored. Without a database that runs, or without its table, they
 * are unknown: the plugins are then inspected with the operator's settings alone.
 */
async function readStored (config: Config): Promise<Record<string, StoredValues>> {
  const connectionString = readServerState(config.data_dir)?.database_url ?? directUrlOf(config)
  if (connectionString === undefined) return {}
  const options = { connectionString, connectionTimeoutMillis: DATABASE_MS, query_timeout: DATABASE_MS }
  try {
    return await withSession(options, (client) => readStoredValues(client, createSecrets(config.auth.secret_key)))
  } catch {
    return {}
  }
}

/** Inspects every plugin of this installation after its own setup ran. No server needs to run. */
export async function inspectPlugins (
  config: Config, { settings = settingsEnvironment(), last, ignoresStored = false }: InspectOptions = {}
): Promise<PluginRecord[]> {
  linkSdk(config.data_dir)
  const isLast = ({ name, origin }: PluginPackage) => name === last && origin === 'community'
  const packages = listPluginPackages(config.data_dir).toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)))
  const stored = ignoresStored ? {} : await readStored(config)
  return (await inspectInProcess({ runsPlugins: true, packages, settings, stored })).records
}

/** Reads the plugin records of the running server's scan worker; null if none runs, or with other packages. */
async function readRecords (config: Config): Promise<PluginRecord[] | null> {
  const state = readServerState(config.data_dir)
  if (state === null) return null
  const options = {
    connectionString: state.database_url, connectionTimeoutMillis: DATABASE_MS, query_timeout: DATABASE_MS
  }
  try {
    const fingerprint = fingerprintOf(listPluginPackages(config.data_dir))
    const snapshot = await withSession(options, (client) => readSnapshot(client, fingerprint))
    return snapshot === null || snapshot.worker === null ? null : snapshot.reports.map(({ record }) => record)
  } catch {
    // The server is starting, stopping or hanging.
    return null
  }
}

/** Finds every plugin: as the running server reports it, or else by inspection here. */
export const findPlugins = async (config: Config, settings = settingsEnvironment()): Promise<PluginRecord[]> =>
  await readRecords(config) ?? await inspectPlugins(config, { settings })

/** Reads the reasons why hosts have other plugins than all hosts of an external database. */
async function listHostProblems (config: Config): Promise<string[]> {
  const url = directUrlOf(config)
  if (url === undefined) return []
  try {
    return await withPackages(url, selectPluginProblems)
  } catch (err) {
    return [`The plugins of the other hosts are unknown: ${(err as Error).message}`]
  }
}

/** Renders a table with columns as wide as their widest cell; the last column is not padded. */
export function renderTable (rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, index) => Math.max(most[index] ?? 0, cell.length)), [])
  return rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ').trimEnd()).join('\n')
}

/** Describes the state of a plugin in one line. */
export function describePlugin ({ status, reason }: PluginRecord): string {
  return reason === null ? status : `${status}: ${terminalLine(reason)}`
}

/** Runs `svc plugins`. */
export async function listPlugins (features: Features, options: { json?: boolean }): Promise<void> {
  const { config } = await features.loadConfig()
  const records = await findPlugins(config)
  const text = options.json === true
    ? records.map((record) => JSON.stringify(record)).join('\n')
    : renderTable([
      ['#', 'KIND', 'KEY', 'VERSION', 'PACKAGE', 'STATUS'],
      ...records.map((record, index) => [String(index + 1), record.kind ?? '?', record.key, record.version ?? '?',
        record.package, describePlugin(record)])
    ])
  process.stdout.write(`${text}\n`)
  // On the other stream, because scripts read the list.
  for (const problem of await listHostProblems(config)) process.stderr.write(`${terminalLine(problem)}\n`)
}
