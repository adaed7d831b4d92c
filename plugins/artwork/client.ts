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
  // The client reads the list at each request, and it follows the settings of providers.
  const trustedOrigins = listTrustedOrigins(app)
  app.registry.onReload(() => { trustedOrigins.splice(0, trustedOrigins.length, ...listTrustedOrigins(app)) })
  return createHttpClient({ name: 'artwork', userAgent: USER_AGENT, log, trustedOrigins, gateway: config.outgoing.gateway })
}
