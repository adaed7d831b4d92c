import proxyAddr from '@fastify/proxy-addr'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../../core/config/config.ts'

/** Headers that only proxies send. */
const PROXY_HEADERS = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via']

/**
 * Returns a function that checks by the address alone if a request may read the metrics. An untrusted proxy would lend
 * its own address to all its visitors, so a request through one counts as having no address.
 */
export function createAddressList ({ metrics: { allow } }: Config): (request: FastifyRequest) => boolean {
  const contains = proxyAddr.compile([...allow])
  return ({ ip, ips, headers }) => {
    const isNamed = (ips?.length ?? 1) > 1
    if (!isNamed && PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false
    return contains(ip, 0)
  }
}
