import type { Logger, PluginKind } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { createHttpClient } from './http.ts'
import type { Pace } from './http-pace.ts'
import { type PluginServices, createCache, createFiles } from './plugin-context.ts'
import { VERSION } from './version.ts'

export const USER_AGENT = `Svc/${VERSION}`

/** What a plugin's configuration and limits say about its services. */
export interface WantedServices {
  config: unknown
  /** Values masked in its logs. */
  secrets: string[]
  /** `host:port` that may be a private address. */
  origins: string[]
  pace: Pace
}

/** How the running server equips a plugin. */
export function createPluginServices (app: FastifyInstance, config: Config) {
  const files = createFiles(config.library_dir)
  return (kind: PluginKind, key: string, wanted: WantedServices): PluginServices => {
    const { config: pluginConfig, secrets, origins, pace } = wanted
    const log: Logger = app.log.child({ plugin: `${kind}/${key}` })
    const cache = createCache(app.pg, `${kind}/${key}`)
    const http = createHttpClient({
      name: key, userAgent: USER_AGENT, log, secrets, trustedOrigins: origins, store: cache, pace
    })
    app.addHook('onClose', async () => { await http.close() })
    return { config: pluginConfig, http, log, cache, files }
  }
}
