import { isIP } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../../../core/config/config.ts'

/**
 * Warns once if an untrusted proxy sends the addresses of its visitors. All visitors share the proxy's address then, so
 * all wait if one of them guesses passwords.
 */
export function warnOfUntrustedProxies (app: FastifyInstance): void {
  let isWarned = false
  // `ips` contains the visitor's address besides the peer's own only if the peer is trusted.
  const isUntrusted = (request: FastifyRequest) =>
    request.headers['x-forwarded-for'] !== undefined && (request.ips?.length ?? 1) <= 1
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isWarned && isUntrusted(request)) {
      isWarned = true
      app.log.warn({ address: request.ip }, 'a proxy at this address sends X-Forwarded-For but is not trusted, so that all its ' +
        'visitors count as one: if the proxy is yours, add it to SVC_TRUSTED_PROXIES')
    }
    done()
  })
}

const isOneAddress = (entry: string) => isIP(entry.replace(/\/(?:32|128)$/, '')) !== 0

/**
 * Warns once of each visitor whose address lies in a network of trusted proxies. Such a visitor is indistinguishable
 * from a proxy, so the server believes any address that it invents.
 */
export function warnOfTrustedVisitors (app: FastifyInstance, { server: { trusted_proxies: trusted } }: Config): void {
  if (trusted.every(isOneAddress)) return
  const isTrusted = proxyAddr.compile([...trusted])
  const isNamed = proxyAddr.compile(trusted.filter(isOneAddress))
  app.addHook('onRequest', ({ ips = [] }, _reply, done) => {
    const [, ...visitors] = ips
    const visitor = visitors.find((address, hop) => isTrusted(address, hop) && !isNamed(address, hop))
    if (visitor !== undefined && app.proxyProblems.record('clients_trusted', visitor)) {
      app.log.warn({ address: visitor, trusted_proxies: trusted }, 'the address of a visitor is in a network of ' +
        'SVC_TRUSTED_PROXIES, so the visitor can claim any address: list the address of each proxy instead of a network')
    }
    done()
  })
}
