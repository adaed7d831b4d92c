import type { Cache, Logger } from '@svc/plugin-sdk'
import fastify from 'fastify'
import { type Config, loadConfig } from '../../core/config/config.ts'
import { createHttpClient } from '../../core/http/client.ts'
import { loadPlugins } from '../../core/loader/loader.ts'
import { createFiles } from '../../core/loader/context.ts'
import { linkSdk } from '../../core/loader/packages.ts'
import { NO_INDEX } from '../../core/loader/plugin-index.ts'
import { NOTHING_LEARNT, createLearntLimits } from '../../core/loader/plugin-limits.ts'
import { USER_AGENT } from '../../core/loader/services.ts'
import type { PluginRecord } from '../../core/loader/registry.ts'

/** What a plugin keeps, for as long as the command runs. */
function createMemoryCache (): Cache {
  const entries = new Map<string, { value: unknown, expiresAt: number }>()
  return {
    get: async (key) => {
      const entry = entries.get(key)
      return entry === undefined || entry.expiresAt < Date.now() ? undefined : entry.value
    },
    set: async (key, value, ttlMs) => { entries.set(key, { value, expiresAt: Date.now() + (ttlMs ?? Infinity) }) },
    delete: async (key) => { entries.delete(key) }
  }
}

/** Every plugin of this installation after its own set-up ran, without a server or a database. */
export async function inspectPlugins (config: Config): Promise<PluginRecord[]> {
  const app = fastify({ pluginTimeout: 15_000 })
  const log: Logger = app.log
  const files = createFiles(config.library_dir)
  try {
    linkSdk(config.data_dir)
    const registry = await loadPlugins(app, {
      config,
      works: true,
      createServices (_kind, key, { config: pluginConfig, secrets, origins, pace, hosts }) {
        const cache = createMemoryCache()
        const http = createHttpClient({
          name: key, userAgent: USER_AGENT, log, secrets, trustedOrigins: origins, store: cache, pace, hosts
        })
        app.addHook('onClose', async () => { await http.close() })
        const learnt = createLearntLimits(NOTHING_LEARNT)
        return { config: pluginConfig, http, log, cache, files, folders: {}, index: NO_INDEX, learnt }
      }
    })
    return [...registry.records]
  } finally {
    await app.close()
  }
}

/** Columns as wide as their widest cell; the last is not padded. */
export function renderTable (rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, index) => Math.max(most[index] ?? 0, cell.length)), [])
  return rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ').trimEnd()).join('\n')
}

export function describePlugin ({ status, reason }: PluginRecord): string {
  return reason === null ? status : `${status}: ${reason}`
}

/** `svc plugins`. */
export async function listPlugins (options: { json?: boolean }): Promise<void> {
  const { config } = loadConfig()
  const records = await inspectPlugins(config)
  const text = options.json === true
    ? records.map((record) => JSON.stringify(record)).join('\n')
    : renderTable([
      ['#', 'KIND', 'KEY', 'VERSION', 'PACKAGE', 'STATUS'],
      ...records.map((record, index) => [String(index + 1), record.kind ?? '?', record.key, record.version ?? '?',
        record.package, describePlugin(record)])
    ])
  process.stdout.write(`${text}\n`)
}
