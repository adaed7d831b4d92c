import type { Cache, Logger } from '@svc/plugin-sdk'
import fastify from 'fastify'
import { createHttpClient } from '../../http/client.ts'
import { createFiles } from '../plugin-files.ts'
import { type LoaderOptions, linkSdkFor, loadPlugins } from '../loader.ts'
import type { PluginPackage } from '../packages/packages.ts'
import { NO_INDEX } from '../search-index/plugin-index.ts'
import { NO_LIMITS, createReportedLimits } from '../plugin-limits.ts'
import type { Description, PluginRecord } from '../registry.ts'
import { USER_AGENT } from '../services.ts'

export interface Inspection {
  descriptions: Description[]
  records: PluginRecord[]
  /** Problems of the sections of plugins in `config.yml`, except values that the plugins refuse. */
  wrongKeys: string[]
}

/** Creates a cache in memory for the duration of the inspection. */
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

/**
 * Inspects packages without a server or a database. Runs their code as a scan worker does. `runsPlugins` sets them up
 * too.
 */
export async function inspectPlugins (
  options: Pick<LoaderOptions, 'config' | 'runsPlugins' | 'serverFields' | 'stored'> & { packages: PluginPackage[] }
): Promise<Inspection> {
  const { config } = options
  const app = fastify({ pluginTimeout: 15_000 })
  const log: Logger = app.log
  const files = createFiles(config.library_dir)
  try {
    linkSdkFor(app, config.data_dir)
    const { descriptions, records, wrongKeys } = await loadPlugins(app, {
      ...options,
      createServices (_kind, key, { config: pluginConfig, secrets, origins, rateLimit, hosts }) {
        const cache = createMemoryCache()
        const http = createHttpClient({
          name: key, userAgent: USER_AGENT, log, secrets, trustedOrigins: origins, store: cache, rateLimit, hosts
        })
        const reportedLimits = createReportedLimits(NO_LIMITS)
        return { config: pluginConfig, http, log, cache, files, folders: {}, index: NO_INDEX, reportedLimits }
      }
    })
    return { descriptions: [...descriptions], records: structuredClone([...records]), wrongKeys: [...wrongKeys] }
  } finally {
    await app.close()
  }
}
