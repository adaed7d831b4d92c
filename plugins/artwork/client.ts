import type { Logger } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { type OutgoingClient, createHttpClient } from '../../core/http/client.ts'
import { readPluginConfig } from '../../core/loader/settings/plugin-config.ts'
import { USER_AGENT } from '../../core/loader/services.ts'

/**
 * Returns the origins of services that an administrator configured. They may serve artwork from their own address, even
 * a private one.
 */
function readTrustedOrigins (app: FastifyInstance, config: Config): string[] {
  return [...app.registry.providers.values()].flatMap(({ definition }) => {
    const settings = readPluginConfig('provider', definition, config)
    return settings.status === 'ready' ? settings.origins : []
  })
}

/** Creates the client that downloads artwork from the internet. */
export const createArtworkClient = (
  app: FastifyInstance, config: Config, log: Logger
): OutgoingClient => createHttpClient({
  name: 'artwork',
  userAgent: USER_AGENT,
  log,
  trustedOrigins: readTrustedOrigins(app, config),
  gateway: config.outgoing.gateway
})
