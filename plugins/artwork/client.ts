import type { Logger } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { type OutgoingClient, createHttpClient } from '../../core/http/client.ts'
import { USER_AGENT } from '../../core/loader/services.ts'

/**
 * Returns the origins of services that an administrator configured. They may serve artwork from their own address, even
 * a private one.
 */
const listTrustedOrigins = ({ registry }: FastifyInstance): string[] =>
  [...registry.providers.values()].flatMap(({ trust }) => trust.origins)

/** Creates the client that downloads artwork from the internet. */
export function createArtworkClient (
  app: FastifyInstance, config: Config, log: Logger
): OutgoingClient {
  return createHttpClient({
    name: 'artwork',
    userAgent: USER_AGENT,
    log,
    gateway: config.outgoing.gateway,
    // Read at each request, because it follows the settings of providers.
    get trustedOrigins () { return listTrustedOrigins(app) }
  })
}
