import proxyAddr from '@fastify/proxy-addr'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { StartError } from '../../core/errors.ts'

/** What only proxies send. */
const PROXY_HEADERS = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via']

function compile (network: string): (address: string, hop: number) => boolean {
  try {
    return proxyAddr.compile([network])
  } catch (err) {
    throw new StartError(`SVC_METRICS_ALLOW: "${network}" is no address or network. Set it to some, such as 192.168.1.20 or ` +
      '172.30.80.0/24.', { cause: err })
  }
}

/**
 * Tells who may read the metrics by the address alone. A proxy that is not trusted would lend its own to whoever comes
 * by it: what came so has no address.
 *
 * @throws StartError for what is no network
 */
export function createAddressList ({ metrics: { allow } }: Config): (request: FastifyRequest) => boolean {
  const networks = allow.map(compile)
  return ({ ip, ips, headers }) => {
    const isNamed = (ips?.length ?? 1) > 1
    if (!isNamed && PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false
    return networks.some((contains) => contains(ip, 0))
  }
}
