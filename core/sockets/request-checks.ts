import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { networkOf } from '../config/networks.ts'
import { trustOf } from '../web/origins.ts'
import { isUpgradeMissing } from './request.ts'

/** True if a page of this origin may open a socket: our own host, or a configured one. */
function isAllowedOrigin (request: IncomingMessage, config: Config): boolean {
  const { origin, cookie } = request.headers
  if (origin === undefined) return true
  const trust = trustOf(origin, config)
  // A browser that sends cookies acts for its user, so only configured sites may use it.
  if (trust === 'named' || (trust === 'any' && cookie === undefined)) return true
  try {
    return new URL(origin).host === request.headers.host || origin === new URL(config.server.base_url).origin
  } catch {
    return false
  }
}

/** True if a page of the request's origin may open a socket. A refused origin is a problem for the administrators. */
export function checkOrigin (app: FastifyInstance, request: IncomingMessage, config: Config): boolean {
  if (isAllowedOrigin(request, config)) return true
  const { origin = '' } = request.headers
  if (app.proxyProblems.record('origin_refused', origin)) {
    app.log.warn({ origin, base_url: config.server.base_url }, 'pages of this origin may not open sockets: if it is the address ' +
      'of this server, set SVC_BASE_URL to it; if it is another site of yours, add it to SVC_CORS_ALLOWED_ORIGINS')
  }
  return false
}

/** Records a proxy that does not forward upgrades, until one of its requests has the upgrade header. */
export function checkUpgrade (app: FastifyInstance, request: IncomingMessage): void {
  const { remoteAddress } = request.socket
  if (remoteAddress === undefined) return
  const peer = networkOf(remoteAddress)
  if (request.headers.upgrade !== undefined) {
    app.proxyProblems.clear('upgrade_missing', peer)
  } else if (isUpgradeMissing(request) && app.proxyProblems.record('upgrade_missing', peer)) {
    app.log.warn({ address: peer }, 'a proxy at this address does not forward WebSocket upgrades, so sockets use only polling: configure it to ' +
      'forward the headers Upgrade and Connection; examples/self-host has a configuration for each proxy')
  }
}
