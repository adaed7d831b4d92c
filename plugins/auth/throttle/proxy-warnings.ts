import { isIP } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../../../core/config/config.ts'

/**
 * Warns once when a proxy that is not trusted names its visitors. They all share the proxy's address, and so all wait
 * when one of them guesses passwords.
 */
export function warnOfUntrustedProxies (app: FastifyInstance): void {
  let isTold = false
  // Beside its own address a trusted peer brings that of its visitor.
  const isUntrusted = (request: FastifyRequest) =>
    request.headers['x-forwarded-for'] !== undefined && (request.ips?.length ?? 1) <= 1
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isTold && isUntrusted(request)) {
      isTold = true
      app.log.warn({ address: request.ip }, 'a proxy at this address sends X-Forwarded-For but is not trusted, so that all its ' +
        'visitors count as one: if the proxy is yours, name it in SVC_TRUSTED_PROXIES')
    }
    done()
  })
}

const isOneAddress = (entry: string) => isIP(entry.replace(/\/(?:32|128)$/, '')) !== 0

/**
 * Warns once of each visitor whose address lies in a network of trusted proxies: nothing tells it from a proxy then,
 * and the address that it makes up for itself counts.
 */
export function warnOfTrustedVisitors (app: FastifyInstance, { server: { trusted_proxies: trusted } }: Config): void {
  if (trusted.every(isOneAddress)) return
  const isTrusted = proxyAddr.compile([...trusted])
  const isNamed = proxyAddr.compile(trusted.filter(isOneAddress))
  app.addHook('onRequest', ({ ips = [] }, _reply, done) => {
    const [, ...behind] = ips
    const visitor = behind.find((address, hop) => isTrusted(address, hop) && !isNamed(address, hop))
    if (visitor !== undefined && app.signs.note('clients_trusted', visitor)) {
      app.log.warn({ address: visitor, trusted_proxies: trusted }, 'a visitor at this address lies in a network of ' +
        'SVC_TRUSTED_PROXIES and may pass for any other: name the address of each proxy there in place of a network')
    }
    done()
  })
}
