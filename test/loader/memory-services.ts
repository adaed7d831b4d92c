import type { Cache, Logger } from '@svc/plugin-sdk'
import { originOf } from '../../core/http/addresses.ts'
import { createHttpClient } from '../../core/http/client.ts'
import type { PluginServices } from '../../core/loader/context.ts'
import { createFiles } from '../../core/loader/plugin-files.ts'
import { NO_INDEX } from '../../core/loader/search-index/plugin-index.ts'
import { NO_LIMITS, createReportedLimits } from '../../core/loader/plugin-limits.ts'

const log: Logger = { debug () {}, info () {}, warn () {}, error () {} }

/** Creates a plugin's services with a cache in memory. */
export function createMemoryServices (
  config: unknown, libraryDir: string, trustedOrigins: readonly string[] = []
): PluginServices {
  const kept = new Map<string, unknown>()
  const cache: Cache = {
    get: async (key) => kept.get(key),
    async set (key, value) { kept.set(key, value) },
    async delete (key) { kept.delete(key) }
  }
  const http = createHttpClient({
    name: 'test', userAgent: 'Svc/test', log, secrets: [], trustedOrigins: [...trustedOrigins].map(originOf), store: cache
  })
  const learnt = createReportedLimits(NO_LIMITS)
  return {
    config, http, log, cache, files: createFiles(libraryDir), folders: {}, index: NO_INDEX, reportedLimits: learnt
  }
}
