import type { PluginKind } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { createHttpClient } from '../http/client.ts'
import type { RateLimit } from '../http/rate-limit.ts'
import type { CallScope } from './calls/call-scope.ts'
import { type PluginServices, readPreferences } from './context.ts'
import { createFiles } from './plugin-files.ts'
import { createCache } from './plugin-cache.ts'
import { createMaskedLog } from './settings/masked-log.ts'
import { createMemo } from './calls/memo.ts'
import { pluginRequests } from './calls/traces.ts'
import type { ReadIndexEntries } from './search-index/index-build.ts'
import { NO_INDEX, createIndex } from './search-index/plugin-index.ts'
import { createLimitsStore } from './plugin-limits.ts'
import { createRateShares } from './rate-shares.ts'
import { VERSION } from '../version.ts'

export const USER_AGENT = `Svc/${VERSION}`

/** The parts of a plugin's configuration and limits that determine its services. */
export interface ServiceOptions {
  config: unknown
  /** Values masked in its logs. */
  secrets: readonly string[]
  /** `host:port` that may be a private address. */
  origins: readonly string[]
  rateLimit: RateLimit
  /** The only hosts that it may reach; undefined for all. */
  hosts: readonly string[] | undefined
  /** Folders that it may read besides the library, by the property that names them. */
  folders: Readonly<Record<string, string>>
  /** Returns the entries of its local index; undefined if it declares none. */
  readIndexEntries: ReadIndexEntries | undefined
}

/** Creates the services that the running server gives to plugins. */
export async function createPluginServices (app: FastifyInstance, config: Config) {
  const files = createFiles(config.library_dir)
  const limits = await createLimitsStore(app.db, (err) => {
    app.log.warn({ err }, 'the limits that plugins reported could not be stored')
  })
  app.addHook('onClose', async () => { await limits.flush() })
  const shareRatesOf = createRateShares(app)
  const closing = new AbortController()
  app.addHook('onClose', async () => { closing.abort(new Error('The server stops')) })
  const scopeOfFirstBuild = (): CallScope =>
    ({ signal: closing.signal, memo: createMemo(), preferences: readPreferences(config) })
  return (kind: PluginKind, key: string, options: ServiceOptions): PluginServices => {
    const { config: pluginConfig, secrets, origins, rateLimit, hosts, readIndexEntries } = options
    const folders = Object.fromEntries(Object.entries(options.folders).map(([name, path]) => [name, createFiles(path)]))
    const ownLog = app.log.child({ plugin: `${kind}/${key}` })
    const log = createMaskedLog(ownLog, secrets)
    const cache = createCache(app.db, `${kind}/${key}`)
    const reportedLimits = limits.of(`${kind}/${key}`)
    const http = createHttpClient({
      name: key,
      userAgent: USER_AGENT,
      // The client gets the unmasked log, because it masks its own lines and most of them are never written.
      log: ownLog,
      secrets,
      trustedOrigins: origins,
      gateway: kind === 'provider' ? config.outgoing.gateway : undefined,
      store: cache,
      rateLimit: { ...rateLimit, ...reportedLimits.rateLimit() },
      shareRate: shareRatesOf(`${kind}/${key}`),
      hosts,
      onEnd: (ms, failure) => { pluginRequests.publish({ plugin: `${kind}/${key}`, ms, failure }) },
      onLimits: reportedLimits.setRateLimit,
      onAllowance: reportedLimits.setAllowance
    })
    const index = readIndexEntries === undefined
      ? NO_INDEX
      : createIndex(app.db, `${kind}/${key}`, readIndexEntries, scopeOfFirstBuild)
    return { config: pluginConfig, http, log, cache, files, folders, index, reportedLimits }
  }
}
