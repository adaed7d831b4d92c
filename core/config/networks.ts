import type { IncomingMessage } from 'node:http'
import { isIPv4 } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import ipaddr from 'ipaddr.js'

/** True if an address belongs to this machine. */
export const isLoopback = (address: string) => ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'

/** An address with a port, as some proxies write it: `192.0.2.7:5678`, `[2001:db8::1]:5678` or `[2001:db8::1]`. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/

/** Removes the port. Each connection has its own, so a port would make every attempt the first one. */
function dropPort (address: string): string {
  const [, bracketed, plain] = WITH_PORT.exec(address) ?? []
  return bracketed ?? plain ?? address
}

/**
 * Returns the key under which attempts are counted: an IPv4 address, or a /64, the smallest network of an IPv6
 * customer.
 *
 * @param given the peer's address, or the address that a trusted proxy sent, which may have a port
 */
export function networkOf (given: string): string {
  const address = dropPort(given)
  if (isIPv4(address) || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  return `${parsed.parts.slice(0, 4).map((part) => part.toString(16)).join(':')}::/64`
}

/**
 * Creates a function that returns a request's address as Fastify's `request.ip` does, for requests that never reach
 * Fastify.
 */
export function createAddressReader (trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trust = proxyAddr.compile([...trustedProxies])
  // A connection that has ended has no address.
  return (request) => request.socket.remoteAddress === undefined ? '' : proxyAddr(request, trust)
}
