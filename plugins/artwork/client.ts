import type { Logger } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { type OutgoingClient, createHttpClient } from '../../core/http/client.ts'
import { readPluginConfig } from '../../core/loader/plugin-config.ts'
import { USER_AGENT } from '../../core/loader/services.ts'

/** Services that an administrator configured may offer artwork under their own address, wherever that is. */
function readTrustedOrigins (app: FastifyInstance, config: Config): string[] {
  return [...app.registry.providers.values()].flatMap(({ definition }) => {
    const settings = readPluginConfig('provider', definition, config)
    return settings.status === 'ready' ? settings.origins : []
  })
}

/** What fetches artwork from the open internet. */
export const createArtworkClient = (
  app: FastifyInstance, config: Config, log: Logger
): OutgoingClient => createHttpClient({
  name: 'artwork',
  userAgent: USER_AGENT,
  log,
  trustedOrigins: readTrustedOrigins(app, config),
  gateway: config.outgoing.gateway
})
