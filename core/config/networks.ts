import type { IncomingMessage } from 'node:http'
import { isIPv4 } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import ipaddr from 'ipaddr.js'

/** Whether an address is this machine's own. */
export const isLoopback = (address: string) => ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'

/** Whose tries are counted together: an IPv4 address, or the /64 that is the least an IPv6 customer is given. */
export function networkOf (address: string): string {
  if (isIPv4(address) || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  return `${parsed.parts.slice(0, 4).map((part) => part.toString(16)).join(':')}::/64`
}

/** Tells where a request comes from as Fastify's `request.ip` does, for those that it never gets. */
export function createAddressReader (trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trust = proxyAddr.compile([...trustedProxies])
  // A connection that has ended has no address.
  return (request) => request.socket.remoteAddress === undefined ? '' : proxyAddr(request, trust)
}
