import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Socket } from 'socket.io'
import type { Config } from '../config/config.ts'
import { basePath } from '../config/base-url.ts'
import { createAddressReader, networkOf } from '../config/networks.ts'
import { createAdapterSession } from './adapter-session.ts'
import { type Endpoint, createEndpoint } from './endpoint.ts'
import type { GuestCount } from './guests.ts'
import { isSocketUpgrade, isSocketUrl, restorePrefix } from './request.ts'
import { checkOrigin, checkUpgrade } from './request-checks.ts'

export interface EndpointsOptions {
  config: Config
  /** The first part of every session id, by which any worker finds the session's owner. */
  owner: string
  guests: GuestCount
}

/** Creates the list of this process's endpoints, which admit connections by one rule. */
export function createEndpoints (app: FastifyInstance, { config, owner, guests }: EndpointsOptions) {
  const endpoints: Endpoint[] = []
  const pool = createAdapterSession(app.workers)
  const addressOf = createAddressReader(config.server.trusted_proxies)
  const networkOfRequest = (request: IncomingMessage) => networkOf(addressOf(request))
  const find = ({ url = '' }: IncomingMessage) => endpoints.find(({ path }) => isSocketUrl(url, path))

  /** Admits a connection. Callers with a credential are admitted even if their network has too many guests. */
  async function isAdmitted (request: IncomingMessage): Promise<boolean> {
    if (!checkOrigin(app, request, config)) return false
    return guests.hasRoom(networkOfRequest(request)) || await app.auth.identifyHandshake(request) !== null
  }

  return {
    /** @param channel the prefix of the channels for its events between processes */
    add (path: string, channel: string): Endpoint {
      const endpoint = createEndpoint(app, {
        config,
        pool,
        path: { path: `${basePath(config)}${path}`, bare: path },
        channel,
        owner,
        isAllowed: isAdmitted,
        connected: (connection) => { guests.add(connection, networkOfRequest(connection.request)) }
      })
      endpoints.push(endpoint)
      return endpoint
    },
    list: (): readonly Endpoint[] => endpoints,
    async close (): Promise<void> {
      for (const endpoint of endpoints) await endpoint.close()
    },
    /** Returns the endpoint of a request; undefined if the request is for none. */
    find,
    /** Checks a new request for problems of the proxy: its address and its headers. */
    examine (request: IncomingMessage): void {
      const endpoint = find(request)
      if (endpoint === undefined) return
      restorePrefix(request, endpoint.path)
      checkUpgrade(app, request)
    },
    isUpgrade: (request: IncomingMessage) => endpoints.some(({ path }) => isSocketUpgrade(request, path)),
    /** Returns the network of a socket's client, behind trusted proxies. */
    networkOf: (socket: Socket) => networkOfRequest(socket.request)
  }
}
