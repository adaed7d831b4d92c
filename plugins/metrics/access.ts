import proxyAddr from '@fastify/proxy-addr'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../../core/config/config.ts'

/** What only proxies send. */
const PROXY_HEADERS = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via']

/**
 * Tells who may read the metrics by the address alone. A proxy that is not trusted would lend its own to whoever comes
 * by it: what came so has no address.
 */
export function createAddressList ({ metrics: { allow } }: Config): (request: FastifyRequest) => boolean {
  const contains = proxyAddr.compile([...allow])
  return ({ ip, ips, headers }) => {
    const isNamed = (ips?.length ?? 1) > 1
    if (!isNamed && PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false
    return contains(ip, 0)
  }
}
